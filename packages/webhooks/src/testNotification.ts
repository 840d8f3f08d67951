// A notification about something that is not ours, for the tests of what is told of it.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { decodeNodes } from './nodes.ts'
import { type Outbound, outboundMessages } from './outbound.ts'

type Unmatched = Extract<RecordedDomainEvent, { type: 'ProviderEventUnmatched' }>['data']

export const notification = {
  provider_id: 'stripe',
  provider_event_id: 'evt_1',
  provider_type: 'customer.subscription.updated',
  generic_type: 'subscription.updated',
  occurred_at: '2026-01-02T03:04:05.000Z',
}

/** What a notification says of its subscription when nothing has changed. */
export const unchanged = {
  subscription_id: 'sub_1',
  current_period_end: '2026-02-02T03:04:05.000Z',
  status_changed: false,
  is_first_invoice: false,
}

/** Three nodes that want everything, one of each mode. */
const { nodes } = decodeNodes(
  Object.fromEntries(
    ['canonical', 'raw', 'both'].flatMap((mode, index) => [
      [`WEBHOOK_${index + 1}_ENABLED`, 'true'],
      [`WEBHOOK_${index + 1}_URL`, `https://example.com/${mode}`],
      [`WEBHOOK_${index + 1}_EVENT_MODE`, mode],
    ]),
  ),
)

/** The messages of an event, for three nodes: `1` is canonical, `2` is raw, `3` is both. */
export function told(event: RecordedDomainEvent): Outbound[] {
  const recorded = {
    id: '0190a000-0000-7000-8000-0000000000ff',
    stream: 'providerEvent-stripe:evt_1',
    revision: 1n,
    metadata: { correlationId: 'req-1', causationId: 'cmd-1', actor: 'provider:stripe' },
  }
  return outboundMessages({ ...event, ...recorded }, nodes, { projectId: 'shop' })
}

/** The messages about a notification that is about nothing of ours. */
export function toldUnmatched(data: Partial<Unmatched>): Outbound[] {
  const subject = {
    object_id: 'obj_1',
    amount_cents: 500,
    currency: 'eur',
    status: null,
    customer_id: 'cus_1',
    customer_email: 'bo@example.com',
  }
  return told({ type: 'ProviderEventUnmatched', data: { ...notification, ...subject, ...data } })
}
