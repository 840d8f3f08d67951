// Encodes events for the log and decodes recorded ones, upcasting former shapes to the newest. Invalid data is rejected.

import { type EventData, jsonEvent } from '@eventstore/db-client'
import { EventMetadata, type LogCheckpoint } from '@paylog/domain/events'
import { type RecordedDomainEvent, recordedEvents, type Upcaster, upcasters } from '@paylog/domain/recordedEvents'
import { type Static, type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { RawEvent } from '../read/rawEvent.ts'

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
  /** Describes why the data does not fit the schema; nothing when it does. */
  problemOf(data: unknown): string | undefined
  /** The next newer shape and the upcaster to it; absent for the newest. */
  readonly next?: { readonly shape: StoredShape; readonly upcast: Upcaster<unknown>['upcast'] }
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
  // Compiled on first use: a process meets few of the shapes, and compiling takes about a millisecond each.
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
 * Upcasts event data to its newest shape.
 * @param data as recorded; not modified
 * @throws Error that names the failed step: the data does not fit its shape, or an upcaster throws or returns data that
 *   does not fit the next shape
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
    if (problem) throw new Error(`does not fit ${storedType} after upcasting: ${problem}`)
  }
  return upcasted
}

function upcastStep(storedType: string, upcast: Upcaster<unknown>['upcast'], data: unknown): unknown {
  try {
    // The data has been checked against the upcaster's schema; the table has erased its type.
    return upcast(data as never)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`could not be upcast to ${storedType}: ${reason}`, { cause: error })
  }
}

/** An event with everything that the log stores about it. */
export type Recorded<Event = RecordedDomainEvent> = Event & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: LogCheckpoint
  readonly created: Date
  readonly metadata: RecordedMetadata
}

export type RecordedMetadata = EventMetadata & {
  /** Version of the stored shape, as in the suffix of the stored type. */
  readonly schema: number
}

const { correlationId, causationId, ...otherMetadata } = EventMetadata.properties

/** Metadata in the log, with EventStoreDB's names of the two ids, so that its projections by correlation id find them. */
const StoredMetadata = Type.Object({
  $correlationId: correlationId,
  $causationId: causationId,
  ...otherMetadata,
  schema: Type.Integer(),
})
type StoredMetadata = Static<typeof StoredMetadata>

function storedMetadata({ correlationId, causationId, ...rest }: RecordedMetadata): StoredMetadata {
  return { $correlationId: correlationId, $causationId: causationId, ...rest }
}

function recordedMetadata({ $correlationId, $causationId, ...rest }: StoredMetadata): RecordedMetadata {
  return { correlationId: $correlationId, causationId: $causationId, ...rest }
}

/** The log holds an event that this program cannot read. State derived from later events would be wrong. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError'
  /** The event's ids as far as they are readable, to find out who wrote it. */
  readonly ids: EventIds

  constructor(message: string, options: ErrorOptions & { readonly ids?: EventIds } = {}) {
    super(message, options)
    this.ids = options.ids ?? {}
  }
}

export type EventIds = Partial<Pick<EventMetadata, 'correlationId' | 'causationId'>>

export type Codec = {
  /**
   * Prepares an event for an append, under its newest stored type.
   * @param id UUID of the event; the same for every attempt to append it
   * @throws Error when the data does not fit its schema: a bug of ours, never a client's mistake
   */
  encode(event: RecordedDomainEvent, id: string, metadata: EventMetadata): EventData
  /**
   * Decodes a recorded event and upcasts it to the newest shape.
   * @throws UnreadableEventError for an unknown type, and for data that does not fit its schema or cannot be upcast
   */
  decode(recorded: RawEvent): Recorded
}

const metadataValidator = Compile(StoredMetadata)

export function createCodec(tables: EventTables): Codec {
  const shapes = createStoredShapes(tables)
  return {
    encode({ type, data }, id, metadata) {
      const shape = shapes.newest(type)
      const problem = shape ? shape.problemOf(data) : 'unknown event type'
      if (shape === undefined || problem) throw new Error(`${type} cannot be recorded: ${problem}`)
      return jsonEvent({
        id,
        type: shape.storedType,
        data,
        metadata: storedMetadata({ ...metadata, schema: shape.version }),
      })
    },
    decode(recorded) {
      const { id, type, stream, revision, position, created } = recorded
      const metadata = parsed(recorded.metadata)
      const unreadable = (problem: string, cause?: unknown) =>
        new UnreadableEventError(
          `event ${id} (${type}, ${stream}@${revision}, position ${position.commit}) ${problem}`,
          { cause, ids: idsIn(metadata) },
        )
      const shape = shapes.stored(type)
      if (shape === undefined) throw unreadable(unknownType(type, shapes))
      if (recorded.contentType !== 'application/json') throw unreadable('is not JSON')
      const data = upcastData(shape, parsed(recorded.data), unreadable)
      if (!metadataValidator.Check(metadata)) throw unreadable('has no valid metadata')
      // The data has been checked above; the compiler cannot connect a type name with its data.
      const event = { type: shape.name, data } as RecordedDomainEvent
      return { ...event, id, stream, revision, position, created, metadata: recordedMetadata(metadata) }
    },
  }
}

/** @returns undefined, which fits no schema, for bytes that are not JSON */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  } catch {
    return undefined
  }
}

/** Decodes an event, and returns the error instead of throwing it for one that this program cannot read. */
export function tryDecode({ decode }: Pick<Codec, 'decode'>, event: RawEvent): Recorded | UnreadableEventError {
  try {
    return decode(event)
  } catch (error) {
    if (error instanceof UnreadableEventError) return error
    throw error
  }
}

function idsIn(metadata: unknown): EventIds {
  if (typeof metadata !== 'object' || metadata === null) return {}
  const { $correlationId, $causationId } = { $correlationId: undefined, $causationId: undefined, ...metadata }
  return {
    ...(typeof $correlationId === 'string' && { correlationId: $correlationId }),
    ...(typeof $causationId === 'string' && { causationId: $causationId }),
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
  return `was written by a newer version of this program: the latest shape known here is ${newest.storedType}`
}

/** The codec of this program version. */
export const domainCodec = createCodec({ current: recordedEvents, former: upcasters })
