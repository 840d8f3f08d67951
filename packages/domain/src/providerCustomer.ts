// The link between a user and their customer at a provider.
import { Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Instant } from './fields.ts'

const facts = {
  provider_id: Type.String(),
  user_id: Type.String(),
  provider_customer_id: Type.String(),
  occurred_at: Instant,
}

export const providerCustomerEvents = {
  ProviderCustomerLinked: Type.Object(facts),
  /** The user is forgotten, and the provider has deleted the customer. */
  ProviderCustomerDeleted: Type.Object(facts),
  /**
   * We are about to delete the customer. In a stream of the customer's own, because the notifications that follow name the
   * customer and not the user.
   */
  ProviderCustomerDeletionRequested: Type.Object(facts),
  /** The provider says that the customer was deleted there. In the customer's own stream: the provider does not know the user. */
  ProviderCustomerDeletionReported: Type.Object({
    provider_id: Type.String(),
    provider_customer_id: Type.String(),
    provider_event_id: Type.String(),
    occurred_at: Instant,
  }),
}
export type ProviderCustomerEvent = EventsOf<typeof providerCustomerEvents>

export type ProviderCustomer = {
  /** `null` if there is none, or if the provider creates the customer together with its first method. */
  readonly provider_customer_id: string | null
  /** Counts the user's customers at this provider, from 1; 0 if there was none. A deleted one counts. */
  readonly generation: number
}

export const providerCustomerFold: Fold<ProviderCustomer, ProviderCustomerEvent> = {
  initialState: Object.freeze({ provider_customer_id: null, generation: 0 }),
  evolve(customer, { type, data: { provider_customer_id } }) {
    const { generation } = customer
    if (type === 'ProviderCustomerLinked') return { provider_customer_id, generation: generation + 1 }
    const isCurrent = provider_customer_id === customer.provider_customer_id
    return type === 'ProviderCustomerDeleted' && isCurrent ? { provider_customer_id: null, generation } : customer
  },
}

/** Folds the customer's own stream to whether we have deleted the customer, or are about to. */
export const customerDeletionFold: Fold<boolean, ProviderCustomerEvent> = {
  initialState: false,
  evolve: (isRequested, { type }) => isRequested || type === 'ProviderCustomerDeletionRequested',
}

type ReportedDeletion = Extract<ProviderCustomerEvent, { type: 'ProviderCustomerDeletionReported' }>['data']

/** Folds the customer's own stream to what the provider last said of its deletion; null if it said nothing. */
export const reportedDeletionFold: Fold<ReportedDeletion | null, ProviderCustomerEvent> = {
  initialState: null,
  evolve: (reported, { type, data }) => (type === 'ProviderCustomerDeletionReported' ? data : reported),
}
