// Setup intents: a provider uses them to save a user's payment method.
import { type Static, Type } from 'typebox'
import { userOwner } from './actor.ts'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant, Nullable } from './fields.ts'
import { Sealed, subjectNamed } from './personalData.ts'

export const setupIntentEvents = {
  SetupIntentCreated: Type.Object({
    setup_intent_id: Id,
    occurred_at: Instant,
    provider_id: Type.String(),
    provider_setup_intent_id: Type.String(),
    client_secret: Sealed('secret', Type.String()),
    /** The user's customer at the provider; null if there was none yet. */
    provider_customer_id: Nullable(Type.String()),
    user_id: Type.String(),
    /** SHA-256 of the request; null without an Idempotency-Key. */
    request_fingerprint: Nullable(Type.String()),
  }),
}
export type SetupIntentEvent = EventsOf<typeof setupIntentEvents>
export type SetupIntent = Static<typeof setupIntentEvents.SetupIntentCreated>

export const setupIntentFold: Fold<SetupIntent | null, SetupIntentEvent> = {
  initialState: null,
  evolve: (_state, { data }) => data,
  subjectOf: (state) => subjectNamed(state && userOwner(state.user_id)),
}
