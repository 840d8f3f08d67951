// The names and versions under which events are stored, and the way from each former shape to the newest one.

import { type EventData, jsonEvent, type RecordedEvent } from '@eventstore/db-client'
import { EventMetadata, type LogPosition } from '@paylog/domain/events'
import { type RecordedDomainEvent, recordedEvents, type Upcaster, upcasters } from '@paylog/domain/recordedEvents'
import { type Static, type TSchema, Type } from 'typebox'
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
function upcast(shape: StoredShape, data: unknown): unknown {
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

// Between recorded bytes and events: refuses to write what history could not be read from, and to read what it cannot.

/** An event with everything the log knows about it. */
export type Recorded<Event = RecordedDomainEvent> = Event & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: LogPosition
  readonly created: Date
  readonly metadata: RecordedMetadata
}

const RecordedMetadata = Type.Object({
  ...EventMetadata.properties,
  /** The version of the shape that the event is stored in; its type's name says the same. */
  schema: Type.Integer(),
})
export type RecordedMetadata = Readonly<Static<typeof RecordedMetadata>>

/** The log holds an event that this program cannot read. Nothing behind it may be taken for the truth. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError'
  /** Of the event, as far as they can be read: they lead to who wrote it. */
  readonly ids: EventIds

  constructor(message: string, options: ErrorOptions & { readonly ids?: EventIds } = {}) {
    super(message, options)
    this.ids = options.ids ?? {}
  }
}

export type EventIds = Partial<Pick<EventMetadata, 'correlationId' | 'causationId'>>

export type Codec = {
  /**
   * Prepares an event for the log, under the newest stored type of its name.
   * @param id UUID of the event; the same for every attempt to append it.
   * @throws Error when the data does not fit the schema of its type: a mistake of ours, never a client's.
   */
  encode(event: RecordedDomainEvent, id: string, metadata: EventMetadata): EventData
  /**
   * Reads a recorded event, in the newest shape of its type whatever shape it is stored in.
   * @throws UnreadableEventError for a type that this program does not know, data that does not fit its type's schema, and
   *   data that cannot be brought into the newest shape.
   */
  decode(recorded: RecordedEvent, position: LogPosition): Recorded
}

const metadataValidator = Compile(RecordedMetadata)

/** A codec of the events in these tables. */
export function createCodec(tables: EventTables): Codec {
  const shapes = createStoredShapes(tables)
  return {
    encode({ type, data }, id, metadata) {
      const shape = shapes.newest(type)
      const problem = shape ? shape.problemOf(data) : 'it is no event of this program'
      if (shape === undefined || problem) throw new Error(`${type} cannot be recorded: ${problem}`)
      return jsonEvent({ id, type: shape.storedType, data, metadata: { ...metadata, schema: shape.version } })
    },
    decode(recorded, position) {
      const { id, type, streamId: stream, revision, created, metadata } = recorded
      const unreadable = (problem: string, cause?: unknown) =>
        new UnreadableEventError(
          `event ${id} (${type}, ${stream}@${revision}, position ${position.commit}) ${problem}`,
          { cause, ids: idsIn(metadata) },
        )
      const shape = shapes.stored(type)
      if (shape === undefined) throw unreadable(unknownType(type, shapes))
      if (!recorded.isJson) throw unreadable('is not JSON')
      const data = upcastData(shape, recorded.data, unreadable)
      if (!metadataValidator.Check(metadata)) throw unreadable('has no valid metadata')
      // The data was checked just above; the compiler cannot connect a type's name with its data.
      const event = { type: shape.name, data } as RecordedDomainEvent
      return { ...event, id, stream, revision, position, created, metadata }
    },
  }
}

function idsIn(metadata: unknown): EventIds {
  if (typeof metadata !== 'object' || metadata === null) return {}
  const { correlationId, causationId } = { correlationId: undefined, causationId: undefined, ...metadata }
  return {
    ...(typeof correlationId === 'string' && { correlationId }),
    ...(typeof causationId === 'string' && { causationId }),
  }
}

function upcastData(
  shape: StoredShape,
  data: unknown,
  unreadable: (problem: string, cause?: unknown) => UnreadableEventError,
): unknown {
  try {
    return upcast(shape, data)
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error), error)
  }
}

function unknownType(type: string, shapes: StoredShapes): string {
  const newest = shapes.olderThan(type)
  if (newest === undefined) return 'has an unknown type'
  return `was written by a newer version of this program: this one knows no later shape than ${newest.storedType}`
}

/** What this program writes and reads. */
export const domainCodec = createCodec({ current: recordedEvents, former: upcasters })
