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

export type ProviderCustomer = {
  /** `null` if there is none, or if the provider creates the customer together with its first method. */
  readonly provider_customer_id: string | null
  /** Counts the user's customers at this provider, from 1; 0 if there is none. */
  readonly generation: number
}

export const providerCustomerFold: Fold<ProviderCustomer, ProviderCustomerEvent> = {
  initialState: Object.freeze({ provider_customer_id: null, generation: 0 }),
  evolve: ({ generation }, { data: { provider_customer_id } }) => ({
    provider_customer_id,
    generation: generation + 1,
  }),
}
