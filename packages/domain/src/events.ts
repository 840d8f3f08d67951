// The types of events: one table of schemas per stream category defines names, shapes, validation and types.
import { type Static, type TSchema, Type } from 'typebox'
import type { Subject } from './personalData.ts'

export type DomainEvent = { readonly type: string; readonly data: object }

/** A table of the events of a category. */
export type EventSchemas = Readonly<Record<string, TSchema>>

/** The union of the events in a table of schemas. */
export type EventsOf<Schemas extends EventSchemas> = {
  [Name in keyof Schemas & string]: { readonly type: Name; readonly data: Static<Schemas[Name]> }
}[keyof Schemas & string]

/**
 * Folds events into a state. `evolve` is pure and accepts every event in every state, because a recorded fact cannot be
 * rejected.
 */
export type Fold<State, Event extends DomainEvent> = {
  readonly initialState: State
  readonly evolve: (state: State, event: Event) => State
  /** Whose personal data is in the stream, once this is its state. Without it the data is sealed with a key of the stream. */
  readonly subjectOf?: (state: State) => Subject | null
}

/** The metadata of every event. */
export const EventMetadata = Type.Object({
  /** One per request or provider notification, passed on to all consequences. */
  correlationId: Type.String(),
  /** The id of the event or request that led to this event. */
  causationId: Type.String(),
  /** `session:<user id>`, `guest`, `anonymous`, `provider:<name>`, `operator`, `worker` or `projector`; never an e-mail or a credential. */
  actor: Type.String(),
  requestId: Type.Optional(Type.String()),
  /** The W3C trace context in which the event was recorded, so that its consequences join the same trace. */
  traceparent: Type.Optional(Type.String()),
})
export type EventMetadata = Readonly<Static<typeof EventMetadata>>

/** An event's position in the log. We keep both numbers because some servers use only one of them. */
export type LogPosition = { readonly commit: bigint; readonly prepare: bigint }

/** How far a consumer has handled the log: the position of an event and its id, which shows that it is still the same log. */
export type LogCheckpoint = LogPosition & { readonly eventId: string }

/** Whether a position is later in the log than another. */
export function isAfter(position: LogPosition, other: LogPosition): boolean {
  return position.commit === other.commit ? position.prepare > other.prepare : position.commit > other.commit
}
