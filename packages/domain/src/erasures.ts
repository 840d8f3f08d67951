// Erasures: keys of personal data that are destroyed. The log says so first; the keys and everything derived from them follow.
import { Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant } from './fields.ts'

const facts = {
  erasure_id: Id,
  occurred_at: Instant,
  /** The keys that must not exist any more. What they sealed can never be read again. */
  key_ids: Type.Array(Id),
}

export const erasureEvents = {
  /** A person is forgotten: a user, a guest, or the payer of an anonymous payment. */
  SubjectErased: Type.Object(facts),
  /** Provider bodies or client secrets of a day are no longer kept. */
  RetentionApplied: Type.Object({
    ...facts,
    kept: Type.Enum(['body', 'secret']),
    /** The last day whose keys are destroyed, in UTC, such as 2026-11-27. */
    until_day: Type.String({ format: 'date' }),
  }),
}
export type ErasureEvent = EventsOf<typeof erasureEvents>

/** Folds to whether the erasure is recorded. */
export const erasureFold: Fold<boolean, ErasureEvent> = { initialState: false, evolve: () => true }
