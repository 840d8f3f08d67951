// The present and former shapes of stored events, and how data of a former shape becomes that of the newest.

import { ownerKeyword } from '@paylog/domain/personalData'
import type { Upcaster } from '@paylog/domain/recordedEvents'
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { type Sealable, sealedFieldsOf } from './sealing.ts'

/** The event schemas of one program version, by event name. */
export type EventTables = {
  /** The newest shape of every event. */
  readonly current: Readonly<Record<string, TSchema>>
  /** The latest former shape of an event, which links to earlier ones. */
  readonly former: Readonly<Record<string, Upcaster<unknown> | undefined>>
}

/** A present or former shape of a stored event. */
export type StoredShape = {
  /** Event type in the log: the event's name, from version 2 on with the suffix `.v<version>`. */
  readonly storedType: string
  /** Event type in the domain. */
  readonly name: string
  /** Counted from 1. */
  readonly version: number
  readonly schema: TSchema
  /** What is stored sealed. */
  readonly sealed: Sealable
  /** Whether it says whose data follows in its stream; see `OwnerEvent`. */
  readonly isOwner: boolean
  /** Describes why the data does not fit the schema; nothing when it does. */
  problemOf(data: unknown): string | undefined
  /** Makes data of this shape, which is not modified, data of the newest one. @throws Error that names the failed step */
  upcast(data: unknown): unknown
}

export type StoredShapes = {
  readonly all: readonly StoredShape[]
  /** The shape in which new events are written. */
  newest(name: string): StoredShape | undefined
  stored(storedType: string): StoredShape | undefined
  /** For a type that only a newer program version can have written: the newest shape of that event known here. */
  olderThan(storedType: string): StoredShape | undefined
}

const versioned = /^(?<name>.+)\.v(?<version>[1-9]\d*)$/

/** The event's name in the domain, of its type in the log. */
export const nameOf = (storedType: string): string => versioned.exec(storedType)?.groups?.name ?? storedType

/** @throws Error for an event name that looks like a version of another event */
export function createStoredShapes({ current, former }: EventTables): StoredShapes {
  const newest = new Map<string, StoredShape>()
  const stored = new Map<string, StoredShape>()
  for (const [name, schema] of Object.entries(current)) {
    if (versioned.test(name))
      throw new Error(`${name} cannot be an event name: the suffix .v<n> is reserved for versions`)
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
  const earlier = former === undefined ? [] : shapesOf(name, former.schema, former.before)
  const newest = storedShape(name, earlier.length + 1, schema)
  if (former === undefined) return [newest]
  const stepTo = (data: unknown) => upcastTo(newest, former, data)
  return [newest, ...earlier.map((shape) => ({ ...shape, upcast: (data: unknown) => stepTo(shape.upcast(data)) }))]
}

function storedShape(name: string, version: number, schema: TSchema): StoredShape {
  // Compiled on first use: a process meets few of the shapes, and compiling takes about a millisecond each.
  let validator: Validator | undefined
  const isOwner = ownerKeyword in schema
  return {
    storedType: version === 1 ? name : `${name}.v${version}`,
    name,
    version,
    schema,
    sealed: { fields: sealedFieldsOf(schema), always: isOwner ? ['personal'] : [] },
    isOwner,
    problemOf(data) {
      validator ??= Compile(schema)
      if (validator.Check(data)) return undefined
      const [first] = validator.Errors(data)
      return `${first?.instancePath || 'data'} ${first?.message ?? 'is not valid'}`
    },
    upcast: (data) => data,
  }
}

/** @throws Error when the upcaster throws, or returns data that does not fit the shape */
function upcastTo({ storedType, problemOf }: StoredShape, { upcast }: Upcaster<unknown>, data: unknown): unknown {
  let upcasted: unknown
  try {
    // The data has been checked against the upcaster's schema; the table has erased its type.
    upcasted = upcast(data as never)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`could not be upcast to ${storedType}: ${reason}`, { cause: error })
  }
  const problem = problemOf(upcasted)
  if (problem) throw new Error(`does not fit ${storedType} after upcasting: ${problem}`)
  return upcasted
}
