// Notifications as tests send them: our ProviderNotification, as unsigned JSON.
import { randomUUIDv7 } from 'node:crypto'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'

/** The provider, but with unsigned notifications. */
export const unsigned = (provider: Provider): Provider => ({
  ...provider,
  async verifyNotification() {},
  readNotification: (body) => JSON.parse(body.toString('utf8')),
})

/** A notification that says nothing but this. */
export function notificationFixture(about: Partial<ProviderNotification> = {}): ProviderNotification {
  return {
    provider_event_id: `evt_${randomUUIDv7()}`,
    provider_type: 'something.happened',
    generic_type: null,
    occurred_at: new Date().toISOString(),
    object_id: 'object',
    amount_cents: null,
    currency: null,
    status: null,
    customer_id: null,
    customer_email: null,
    referenced_payment_id: null,
    subscription: null,
    report: null,
    ...about,
  }
}
