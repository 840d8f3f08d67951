import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import {
  applied,
  type DataOf,
  endpointSettings,
  endpointsFrom,
  messagesTo,
  ourPayment,
  payment_id,
  received,
  recorded,
} from '../testing/eventFixtures.ts'
import { outboundMessages, type SourceEvent } from './outbound.ts'

const { occurred_at } = ourPayment
const canonical = endpointSettings(1, 'canonical')
const options = { projectId: 'shop', projectIds: [] }
const names = (event: RecordedDomainEvent) => messagesTo(event, canonical).map((message) => message.event)

t.test('a webhook has its endpoint, its source event and its user', async (t) => {
  const [message, ...more] = outboundMessages(
    recorded({ type: 'PaymentSucceeded', data: ourPayment }, `payment-${payment_id}`),
    endpointsFrom(canonical),
    options,
  )
  t.strictSame(more, [])
  t.match(message, {
    endpoint: '1',
    event: 'payment.succeeded',
    mode: 'canonical',
    provider: 'stripe',
    source_stream: `payment-${payment_id}`,
    source_revision: 1n,
    source_event_id: '0190a000-0000-7000-8000-0000000000ff',
    correlation_id: 'req-1',
    causation_id: 'cmd-1',
    payment_id,
    user_id: 'u1',
  })
})

t.test('a webhook names the keys of the sealed part that it contains, and of no other', async (t) => {
  const sealed = { personal: ['subject'], body: ['subject', 'day'], secret: ['subject', 'other day'] }
  const keysOf = (event: RecordedDomainEvent, mode: string, more: Record<string, string> = {}) =>
    outboundMessages({ ...recorded(event), sealed }, endpointsFrom(endpointSettings(1, mode, more)), options).map(
      ({ key_ids }) => key_ids,
    )
  const succeeded = { type: 'PaymentSucceeded', data: ourPayment } as const
  t.strictSame(keysOf(succeeded, 'canonical'), [['subject']])
  t.strictSame(keysOf(received(), 'raw'), [['subject', 'day']])
  t.strictSame(keysOf(applied(), 'raw', { FORMAT: 'slack', URL: 'https://hooks.slack.com/services/T/B/x' }), [
    ['subject'],
  ])
  t.strictSame(outboundMessages(recorded(succeeded), endpointsFrom(canonical), options)[0]?.key_ids, [])
})

t.test(
  'copies of a notification, one in its own stream and one in its payment, give webhooks with the same ids',
  async (t) => {
    const own = [received(), applied()].map((event, revision) => ({ ...recorded(event), revision: BigInt(revision) }))
    const { provider_event_id, provider_type, generic_type, object_id } = applied()
      .data as DataOf<'ProviderEventApplied'>
    const inPayment = recorded(
      {
        type: 'ProviderNotificationReceived',
        data: {
          ...ourPayment,
          provider_time: occurred_at,
          provider_event_id,
          provider_type,
          generic_type,
          object_id,
          reported_amount_cents: 1_999,
          reported_currency: 'EUR',
          reported_status: 'succeeded',
          reported_intent_id: null,
          is_foreign_intent: false,
          body: '{}',
        },
      },
      `payment-${payment_id}`,
    )
    const slack = endpointSettings(4, 'raw', { FORMAT: 'slack', URL: 'https://hooks.slack.com/services/T/B/x' })
    const legacy = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/legacy' }
    const endpoints = endpointsFrom(endpointSettings(2, 'raw'), canonical, legacy, slack)
    const idsOf = (...events: readonly SourceEvent[]) =>
      events.flatMap((event) =>
        outboundMessages(event, endpoints, options).map(({ endpoint, id }) => `${endpoint} ${id}`),
      )
    t.equal(idsOf(inPayment).length, 3)
    t.strictSame(idsOf(inPayment).sort(), idsOf(...own).sort())
  },
)

t.test('a webhook about an anonymous payer has no user', async (t) => {
  const payer = { id: null, type: 'guest', email: null }
  const [message] = messagesTo({ type: 'PaymentCanceled', data: { ...ourPayment, payer, reason: null } }, canonical)
  t.equal(message?.user_id, null)
})

t.test('payment events lead to the specified canonical messages [6.2-created]', async (t) => {
  const failed = { ...ourPayment, failure_code: 'card_declined', failure_message: 'no' }
  const intent = { ...ourPayment, provider_intent_id: 'pi', client_secret: null, redirect_url: null, attempt: 1 }
  t.strictSame(names({ type: 'ProviderIntentCreated', data: intent }), ['payment.created'])
  t.strictSame(names({ type: 'PaymentSucceeded', data: ourPayment }), ['payment.succeeded'])
  t.strictSame(names({ type: 'PaymentAttemptFailed', data: failed }), ['payment.failed'])
  t.strictSame(names({ type: 'PaymentCanceled', data: { ...ourPayment, reason: null } }), ['payment.failed'])
})

t.test('a webhook id depends only on stream, revision, name and endpoint [10.4-ids]', async (t) => {
  const event = recorded({ type: 'PaymentSucceeded', data: ourPayment })
  const endpoints = endpointsFrom(canonical, endpointSettings(2, 'canonical'))
  const ids = (source: SourceEvent) => outboundMessages(source, endpoints, options).map(({ id }) => id)
  t.strictSame(ids(event), ids({ ...event, id: 'other', metadata: { ...event.metadata, correlationId: 'other' } }))
  const all = [event, { ...event, revision: 4n }, { ...event, stream: 'payment-other' }].flatMap(ids)
  t.equal(new Set(all).size, 6)
  t.match(all[0], /^[0-9a-f]{8}-[0-9a-f]{4}-5/)
})
