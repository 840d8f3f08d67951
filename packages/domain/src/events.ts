// How events are described: one table of schemas per stream category gives names, shapes, validation and types at once.
import { type Static, type TSchema, Type } from 'typebox'

/** A recorded fact: its type's name and its data. */
export type DomainEvent = { readonly type: string; readonly data: object }

/** The union of events that a table of schemas describes. */
export type EventsOf<Schemas extends Record<string, TSchema>> = {
  [Name in keyof Schemas & string]: { readonly type: Name; readonly data: Static<Schemas[Name]> }
}[keyof Schemas & string]

/**
 * A state that is folded from events. `evolve` is pure and accepts every event of its union in every state, because a
 * recorded fact cannot be refused.
 */
export type Fold<State, Event extends DomainEvent> = {
  readonly initialState: State
  readonly evolve: (state: State, event: Event) => State
}

/** Who caused an event and as part of what; stored beside the data of every event. */
export const EventMetadata = Type.Object({
  /** One per request or provider notification, carried through everything that follows from it. */
  correlationId: Type.String(),
  /** The id of the event or request that led to this event. */
  causationId: Type.String(),
  /** `session:<user id>`, `guest`, `anonymous`, `provider:<name>`, `operator` or `worker`; never an e-mail or a credential. */
  actor: Type.String(),
  requestId: Type.Optional(Type.String()),
  /** The trace that it was recorded in, as W3C Trace Context writes it, so that what follows from it belongs to the same. */
  traceparent: Type.Optional(Type.String()),
})
export type EventMetadata = Readonly<Static<typeof EventMetadata>>

// Where an event stands in the whole log.

/** Both numbers are kept: some servers only honour one of them. */
export type LogPosition = { readonly commit: bigint; readonly prepare: bigint }

/** Whether a position lies behind another one, towards the end of the log. */
export function isAfter(position: LogPosition, other: LogPosition): boolean {
  return position.commit === other.commit ? position.prepare > other.prepare : position.commit > other.commit
}
