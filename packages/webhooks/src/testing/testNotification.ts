// A notification about something that is not ours, for the tests of what is told of it.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { Outbound } from '../outbound.ts'
import { endpointSettings, messagesTo } from './testEvents.ts'

type Unmatched = Extract<RecordedDomainEvent, { type: 'ProviderEventUnmatched' }>['data']

export const subscriptionNotification = {
  provider_id: 'stripe',
  provider_event_id: 'evt_1',
  provider_type: 'customer.subscription.updated',
  generic_type: 'subscription.updated',
  occurred_at: '2026-01-02T03:04:05.000Z',
}

/** What a notification says of its subscription when nothing has changed. */
export const unchangedSubscription = {
  subscription_id: 'sub_1',
  current_period_end: '2026-02-02T03:04:05.000Z',
  status_changed: false,
  is_first_invoice: false,
}

/** The messages of an event, for three nodes: `1` is canonical, `2` is raw, `3` is both. */
export function messagesByMode(event: RecordedDomainEvent): Outbound[] {
  return messagesTo(event, endpointSettings(1, 'canonical'), endpointSettings(2, 'raw'), endpointSettings(3, 'both'))
}

/** The messages about a notification that is about nothing of ours. */
export function unmatchedMessagesByMode(data: Partial<Unmatched>): Outbound[] {
  const subject = {
    object_id: 'obj_1',
    amount_cents: 500,
    currency: 'eur',
    status: null,
    customer_id: 'cus_1',
    customer_email: 'bo@example.com',
  }
  return messagesByMode({ type: 'ProviderEventUnmatched', data: { ...subscriptionNotification, ...subject, ...data } })
}
