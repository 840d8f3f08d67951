// Between recorded bytes and events: refuses to write what history could not be read from, and to read what it cannot.
import { type EventData, jsonEvent, type RecordedEvent } from '@eventstore/db-client'
import { upcasters } from '@paylog/domain/formerEvents'
import type { LogPosition } from '@paylog/domain/logPosition'
import { EventMetadata } from '@paylog/domain/messages'
import { type RecordedDomainEvent, recordedEvents } from '@paylog/domain/recordedEvents'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { createStoredShapes, type EventTables, type StoredShape, type StoredShapes, upcast } from './upcasting.ts'

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
