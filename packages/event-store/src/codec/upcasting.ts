// The names and versions under which events are stored, and the way from each former shape to the newest one.
import type { Upcaster } from '@paylog/domain/formerEvents'
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

/** The events that a program knows. */
export type EventTables = {
  /** The newest shape of every event, by its name in the domain. */
  readonly current: Readonly<Record<string, TSchema>>
  /** The latest of its former shapes, by the same name. */
  readonly former: Readonly<Record<string, Upcaster<unknown> | undefined>>
}

/** One shape in which an event is or was stored. */
export type StoredShape = {
  /** In the log: the event's name, from its second version on with the version behind it. */
  readonly storedType: string
  /** In the domain. */
  readonly name: string
  /** Counted from 1. */
  readonly version: number
  readonly schema: TSchema
  /** What does not fit; nothing when the data fits. */
  problemOf(data: unknown): string | undefined
  /** The next shape, and how this one becomes it; absent for the newest. */
  readonly next?: { readonly shape: StoredShape; readonly upcast: Upcaster<unknown>['upcast'] }
}

export type StoredShapes = {
  readonly all: readonly StoredShape[]
  /** The shape in which an event is stored when it is written. */
  newest(name: string): StoredShape | undefined
  stored(storedType: string): StoredShape | undefined
  /** The newest shape of an event of which only a later version of the program can have written this one. */
  olderThan(storedType: string): StoredShape | undefined
}

const versioned = /^(?<name>.+)\.v(?<version>[1-9]\d*)$/

/** @throws Error for an event whose name would read as another one's version: a mistake of ours */
export function createStoredShapes({ current, former }: EventTables): StoredShapes {
  const newest = new Map<string, StoredShape>()
  const stored = new Map<string, StoredShape>()
  for (const [name, schema] of Object.entries(current)) {
    if (versioned.test(name)) throw new Error(`${name} is no name for an event: versions are counted by former shapes`)
    const shapes = shapesOf(name, schema, Object.hasOwn(former, name) ? former[name] : undefined)
    newest.set(name, shapes[0])
    for (const shape of shapes) stored.set(shape.storedType, shape)
  }
  return {
    all: [...stored.values()],
    newest: (name) => newest.get(name),
    stored: (storedType) => stored.get(storedType),
    olderThan(storedType) {
      const { name = '', version } = versioned.exec(storedType)?.groups ?? {}
      const shape = newest.get(name)
      return shape && Number(version) > shape.version ? shape : undefined
    },
  }
}

/** Newest first. */
function shapesOf(
  name: string,
  schema: TSchema,
  former: Upcaster<unknown> | undefined,
): [StoredShape, ...StoredShape[]] {
  const version = countOf(former) + 1
  const shapes: [StoredShape, ...StoredShape[]] = [storedShape(name, version, schema)]
  let shape = shapes[0]
  for (let earlier = former; earlier !== undefined; earlier = earlier.before) {
    shape = { ...storedShape(name, shape.version - 1, earlier.schema), next: { shape, upcast: earlier.upcast } }
    shapes.push(shape)
  }
  return shapes
}

const countOf = (former: Upcaster<unknown> | undefined): number => (former ? 1 + countOf(former.before) : 0)

function storedShape(name: string, version: number, schema: TSchema): StoredShape {
  // Compiled when it is first needed: a process meets few of all shapes, and each takes about a millisecond.
  let validator: Validator | undefined
  return {
    storedType: version === 1 ? name : `${name}.v${version}`,
    name,
    version,
    schema,
    problemOf(data) {
      validator ??= Compile(schema)
      if (validator.Check(data)) return undefined
      const [first] = validator.Errors(data)
      return `${first?.instancePath || 'data'} ${first?.message ?? 'is not valid'}`
    },
  }
}

/**
 * The data of an event in its newest shape.
 * @param data what is recorded; it stays as it is
 * @throws Error that says which step failed, when the data fits its shape not, or an upcaster throws or makes what does not
 *   fit the next one
 */
export function upcast(shape: StoredShape, data: unknown): unknown {
  const problem = shape.problemOf(data)
  if (problem) throw new Error(`does not fit its schema: ${problem}`)
  let { next } = shape
  let upcasted = data
  for (; next !== undefined; next = next.shape.next) {
    const { storedType, problemOf } = next.shape
    upcasted = upcastStep(storedType, next.upcast, upcasted)
    const problem = problemOf(upcasted)
    if (problem) throw new Error(`was upcast to what does not fit ${storedType}: ${problem}`)
  }
  return upcasted
}

function upcastStep(storedType: string, upcast: Upcaster<unknown>['upcast'], data: unknown): unknown {
  try {
    // It has just been checked that the data fits the schema that the upcaster was typed by; the table has erased which.
    return upcast(data as never)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`could not be upcast to ${storedType}: ${reason}`, { cause: error })
  }
}
