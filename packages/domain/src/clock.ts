// The time of a process beside the one that the event store gives to the event, so that the two can be compared.
import { Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Instant } from './fields.ts'

export const clockEvents = {
  ClockCompared: Type.Object({
    /** By the clock of the process. */
    occurred_at: Instant,
  }),
}
export type ClockEvent = EventsOf<typeof clockEvents>

export const clockFold: Fold<null, ClockEvent> = { initialState: null, evolve: () => null }
