// Between recorded bytes and events: refuses to write what history could not be read from, and to read what it cannot.

import { type EventData, jsonEvent, type RecordedEvent } from '@eventstore/db-client'
import { EventMetadata } from '@paylog/domain/messages'
import { type RecordedDomainEvent, recordedEvents } from '@paylog/domain/recordedEvents'
import { type Static, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

/** The place of an event in the whole log. Both numbers are kept: some servers only honour one of them. */
export type LogPosition = { readonly commit: bigint; readonly prepare: bigint }

export function isAfter(position: LogPosition, other: LogPosition): boolean {
  return position.commit === other.commit ? position.prepare > other.prepare : position.commit > other.commit
}

/** An event with everything the log knows about it. */
export type Recorded<Event = RecordedDomainEvent> = Event & {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: LogPosition
  readonly created: Date
  readonly metadata: RecordedMetadata
}

const RecordedMetadata = Type.Object({ ...EventMetadata.properties, schema: Type.Integer() })
export type RecordedMetadata = Readonly<Static<typeof RecordedMetadata>>

/** The log holds an event that this program cannot read. Nothing behind it may be taken for the truth. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError'
}

type EventType = RecordedDomainEvent['type']

/** The shape that events of a type have now. Only additive changes so far, so every type is at 1. */
const schemaVersion = 1

const metadataValidator = Compile(RecordedMetadata)
const validators = new Map<EventType, Validator>()

function isKnown(type: string): type is EventType {
  return Object.hasOwn(recordedEvents, type)
}

function validatorOf(type: EventType): Validator {
  const known = validators.get(type)
  if (known) return known
  const compiled = Compile(recordedEvents[type])
  validators.set(type, compiled)
  return compiled
}

function problemOf(type: EventType, data: unknown): string | undefined {
  const validator = validatorOf(type)
  if (validator.Check(data)) return undefined
  const [first] = validator.Errors(data)
  return `${first?.instancePath || 'data'} ${first?.message ?? 'is not valid'}`
}

/**
 * Prepares an event for the log.
 * @param id UUID of the event; the same for every attempt to append it.
 * @throws Error when the data does not fit the schema of its type: a mistake of ours, never a client's.
 */
export function encode(event: RecordedDomainEvent, id: string, metadata: EventMetadata): EventData {
  const problem = problemOf(event.type, event.data)
  if (problem) throw new Error(`${event.type} cannot be recorded: ${problem}`)
  return jsonEvent({ id, type: event.type, data: event.data, metadata: { ...metadata, schema: schemaVersion } })
}

/**
 * Reads a recorded event.
 * @throws UnreadableEventError for an unknown type and for data that does not fit the type's schema.
 */
export function decode(recorded: RecordedEvent, position: LogPosition): Recorded {
  const { id, type, streamId: stream, revision, created } = recorded
  const where = `event ${id} (${type}, ${stream}@${revision}, position ${position.commit})`
  if (!isKnown(type)) throw new UnreadableEventError(`${where} has an unknown type`)
  if (!recorded.isJson) throw new UnreadableEventError(`${where} is not JSON`)
  const problem = problemOf(type, recorded.data)
  if (problem) throw new UnreadableEventError(`${where} does not fit its schema: ${problem}`)
  const { metadata } = recorded
  if (!metadataValidator.Check(metadata)) throw new UnreadableEventError(`${where} has no valid metadata`)
  // The schema was checked just above; the compiler cannot connect a type's name with its data.
  const event = { type, data: recorded.data } as RecordedDomainEvent
  return { ...event, id, stream, revision, position, created, metadata }
}
