import t from 'tap'
import type { Delivery, HistoryEntry, PaymentStatus, RawEvent } from '../../api/apiTypes.ts'
import { timelineOf } from './timeline.ts'

const stream = 'payment-p'
const time = (revision: number) => `2026-01-31T12:00:0${revision}.000Z`
const entry = (
  revision: number,
  type: string,
  status_after: PaymentStatus,
  causation_id = 'request',
): HistoryEntry => ({
  position: String(100 + revision),
  revision,
  type,
  occurred_at: time(revision),
  actor: 'anonymous',
  correlation_id: 'request',
  causation_id,
  status_after,
  data: {},
})
const event = (revision: number, type: string): RawEvent => ({
  id: `event-${revision}`,
  type,
  stream,
  revision,
  position: String(100 + revision),
  created: time(revision),
  data: { occurred_at: time(revision) },
  metadata: { actor: 'provider:sandbox', correlationId: 'n', causationId: 'n' },
})
const delivery = (id: string, source: Partial<Delivery['source']>): Delivery => ({
  id,
  endpoint: 'shop',
  event: 'payment.succeeded',
  mode: 'canonical',
  provider: 'sandbox',
  status: 'succeeded',
  is_test: false,
  attempts: 1,
  last_http_status: 200,
  last_error: null,
  last_attempt_at: null,
  next_attempt_at: null,
  created_at: time(3),
  ended_at: null,
  source: { stream, revision: 0, event_id: 'unknown', causation_id: 'c', correlation_id: 'c', ...source },
})

const history = [entry(0, 'PaymentInitiated', 'pending'), entry(2, 'PaymentSucceeded', 'succeeded', 'event-1')]
const events = [event(0, 'PaymentInitiated'), event(1, 'ProviderNotificationReceived'), event(2, 'PaymentSucceeded')]

t.test('the timeline has notifications in their place, and what they led to', async (t) => {
  const { items } = timelineOf(history, events, [])
  t.same(
    items.map(({ type }) => type),
    ['PaymentInitiated', 'ProviderNotificationReceived', 'PaymentSucceeded'],
  )
  t.same(
    items.map(({ statusAfter }) => statusAfter),
    ['pending', null, 'succeeded'],
  )
  t.same(
    items.map(({ isNewStatus }) => isNewStatus),
    [true, false, true],
  )
  t.same(
    items.map(({ causedBy }) => causedBy),
    [null, null, { revision: 1, type: 'ProviderNotificationReceived' }],
  )
  t.equal(items[1]?.actor, 'provider:sandbox')
})

t.test('a webhook is shown with the event that it is about', async (t) => {
  const byId = delivery('a', { event_id: 'event-2', stream: 'other' })
  const byRevision = delivery('b', { revision: 2 })
  const other = delivery('c', { stream: 'providerEvent-sandbox:evt_1', revision: 2 })
  const { items, otherDeliveries } = timelineOf(history, events, [byId, byRevision, other])
  t.same(
    items.map(({ deliveries }) => deliveries.map(({ id }) => id)),
    [[], [], ['a', 'b']],
  )
  t.same(otherDeliveries, [other])
})

t.test('the timeline is complete without recorded events, except for notifications', async (t) => {
  const { items } = timelineOf(history, [], [delivery('b', { revision: 2 })])
  t.same(
    items.map(({ revision, deliveries }) => [revision, deliveries.length]),
    [
      [0, 0],
      [2, 1],
    ],
  )
})
