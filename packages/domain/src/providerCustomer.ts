// The link between a user and their customer at a provider.
import { Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Instant } from './fields.ts'

export const providerCustomerEvents = {
  ProviderCustomerLinked: Type.Object({
    provider_id: Type.String(),
    user_id: Type.String(),
    provider_customer_id: Type.String(),
    occurred_at: Instant,
  }),
}
export type ProviderCustomerEvent = EventsOf<typeof providerCustomerEvents>

/** Folds to the provider's customer id. */
export const providerCustomerFold: Fold<string | null, ProviderCustomerEvent> = {
  initialState: null,
  evolve: (_state, { data }) => data.provider_customer_id,
}
