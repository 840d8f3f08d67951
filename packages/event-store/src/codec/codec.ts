// Encodes events for the log and decodes recorded ones, upcasting former shapes to the newest. Invalid data is rejected.

import { type EventData, jsonEvent } from '@eventstore/db-client'
import { EventMetadata, type LogCheckpoint } from '@paylog/domain/events'
import type { SealedPart } from '@paylog/domain/personalData'
import { type RecordedDomainEvent, recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RawEvent } from '../read/rawEvent.ts'
import type { DataKey } from './dataKeys.ts'
import { KeysNeededError, type KnownKeys, partsIn, type SealedKeys, seal, unseal, withoutParts } from './sealing.ts'
import { createStoredShapes, type EventTables, type StoredShape, type StoredShapes } from './shapes.ts'

/** An event with everything that the log stores about it. */
export type Recorded<Event = RecordedDomainEvent> = Event & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: LogCheckpoint
  readonly created: Date
  readonly metadata: RecordedMetadata
  /** The keys of its sealed parts, also of those that were destroyed. */
  readonly sealed: SealedKeys
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

/** Where an event is appended, and with which keys its parts are sealed. */
export type Sealing = { readonly stream: string; readonly keysOf: (part: SealedPart) => readonly DataKey[] }

export type Codec = {
  /** The parts of an event that need keys to be encoded. */
  partsOf(event: RecordedDomainEvent): readonly SealedPart[]
  /** Whether events of this type say whose data follows in their stream; see `OwnerEvent`. */
  isOwner(type: string): boolean
  /** The event as it is after the destruction of the keys of these parts. */
  withoutParts<Event extends RecordedDomainEvent>(event: Event, parts: readonly SealedPart[]): Event
  /**
   * Prepares an event for an append, under its newest stored type.
   * @param id UUID of the event; the same for every attempt to append it
   * @throws Error when the data does not fit its schema: a bug of ours, never a client's mistake
   */
  encode(event: RecordedDomainEvent, id: string, metadata: EventMetadata, sealing: Sealing): EventData
  /**
   * Decodes a recorded event and upcasts it to the newest shape.
   * @param known the keys that are loaded
   * @param data its data, parsed
   * @throws UnreadableEventError for an unknown type, and for data that does not fit its schema, cannot be opened or cannot be
   *   upcast; KeysNeededError when one of its keys is not loaded
   */
  decode(recorded: RawEvent, known: KnownKeys, data?: unknown): Recorded
}

const metadataValidator = Compile(StoredMetadata)

export function createCodec(tables: EventTables): Codec {
  const shapes = createStoredShapes(tables)
  return {
    partsOf({ type, data }) {
      const shape = shapes.newest(type)
      return shape ? partsIn(shape.sealed, data) : []
    },
    isOwner: (type) => shapes.newest(type)?.isOwner === true,
    withoutParts(event, parts) {
      const { fields = [] } = shapes.newest(event.type)?.sealed ?? {}
      return { ...event, data: withoutParts(fields, event.data, parts) } as typeof event
    },
    encode({ type, data }, id, metadata, { stream, keysOf }) {
      const shape = shapes.newest(type)
      const problem = shape ? shape.problemOf(data) : 'unknown event type'
      if (shape === undefined || problem) throw new Error(`${type} cannot be recorded: ${problem}`)
      return jsonEvent({
        id,
        type: shape.storedType,
        data: seal(shape.sealed, data, keysOf, { stream, id, type: shape.storedType }) as typeof data,
        metadata: storedMetadata({ ...metadata, schema: shape.version }),
      })
    },
    decode(recorded, known, stored = parsedJson(recorded.data)) {
      const { id, type, stream, revision, position, created } = recorded
      const metadata = parsedJson(recorded.metadata)
      const unreadable = (problem: string, cause?: unknown) =>
        new UnreadableEventError(
          `event ${id} (${type}, ${stream}@${revision}, position ${position.commit}) ${problem}`,
          { cause, ids: idsIn(metadata) },
        )
      const shape = shapes.stored(type)
      if (shape === undefined) throw unreadable(unknownType(type, shapes))
      if (recorded.contentType !== 'application/json') throw unreadable('is not JSON')
      const { data, sealed } = unsealedData(shape, { recorded, stored }, known, unreadable)
      if (!metadataValidator.Check(metadata)) throw unreadable('has no valid metadata')
      // The data has been checked above; the compiler cannot connect a type name with its data.
      const event = { type: shape.name, data } as RecordedDomainEvent
      return { ...event, id, stream, revision, position, created, metadata: recordedMetadata(metadata), sealed }
    },
  }
}

/** @returns undefined, which fits no schema, for bytes that are not JSON */
export function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  } catch {
    return undefined
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

function unsealedData(
  shape: StoredShape,
  { recorded: { id, stream, type }, stored }: { readonly recorded: RawEvent; readonly stored: unknown },
  known: KnownKeys,
  unreadable: (problem: string, cause?: unknown) => UnreadableEventError,
): { readonly data: unknown; readonly sealed: SealedKeys } {
  try {
    const unsealed = unseal(shape.sealed.fields, stored, known, { stream, id, type })
    const problem = shape.problemOf(unsealed.data)
    if (problem) throw new Error(`does not fit its schema: ${problem}`)
    return { ...unsealed, data: shape.upcast(unsealed.data) }
  } catch (error) {
    if (error instanceof KeysNeededError) throw error
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
