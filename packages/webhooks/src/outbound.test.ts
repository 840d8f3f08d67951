import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import { outboundMessages, type SourceEvent } from './outbound.ts'
import {
  applied,
  conflicted,
  type DataOf,
  disputeRecorded,
  endpointSettings,
  endpointsFrom,
  ignored,
  messagesTo,
  mismatched,
  ourPayment,
  payment_id,
  received,
  recorded,
  refund,
  refundRecorded,
} from './testing/eventFixtures.ts'

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
    node: '1',
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
          body: '{}',
        },
      },
      `payment-${payment_id}`,
    )
    const slack = endpointSettings(4, 'raw', { FORMAT: 'slack', URL: 'https://hooks.slack.com/services/T/B/x' })
    const legacy = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/legacy' }
    const endpoints = endpointsFrom(endpointSettings(2, 'raw'), canonical, legacy, slack)
    const idsOf = (...events: readonly SourceEvent[]) =>
      events.flatMap((event) => outboundMessages(event, endpoints, options).map(({ node, id }) => `${node} ${id}`))
    t.equal(idsOf(inPayment).length, 3)
    t.strictSame(idsOf(inPayment).sort(), idsOf(...own).sort())
  },
)

t.test('a webhook about an anonymous payer has no user', async (t) => {
  const payer = { id: null, type: 'guest', email: null }
  const [message] = messagesTo({ type: 'PaymentCanceled', data: { ...ourPayment, payer, reason: null } }, canonical)
  t.equal(message?.user_id, null)
})

const failedCall = {
  ...ourPayment,
  outcome: 'rejected',
  refusal: 'provider_rejected',
  failure_code: 'charge_already_refunded',
  failure_message: 'no',
} as const

/** Events of payments and related streams without canonical messages; golden.test.ts covers all types. */
const internalEvents: readonly RecordedDomainEvent[] = [
  {
    type: 'PaymentInitiated',
    data: {
      ...ourPayment,
      subtotal_cents: 2200,
      tax_cents: 0,
      discount_cents: 0,
      total_cents: 2200,
      concept: null,
      description: null,
      reference_code: null,
      category: null,
      tags: null,
      payment_method_id: null,
      is_guest_payment: false,
      guest_email: null,
      guest_name: null,
      guest_phone: null,
      metadata: {},
      request_fingerprint: null,
    },
  },
  { type: 'ProviderOutcomeUnknown', data: { ...ourPayment, attempt: 1, reason: 'timeout' } },
  { type: 'ProviderCallThrottled', data: { ...ourPayment, attempt: 1, reason: 'rate_limit' } },
  { type: 'PaymentAttemptStarted', data: { ...ourPayment, attempt: 2 } },
  { type: 'PaymentActionRequired', data: ourPayment },
  { type: 'PaymentProcessingStarted', data: ourPayment },
  { type: 'PaymentCancelRequested', data: { ...ourPayment, reason: null, is_expiry: false } },
  { type: 'PaymentCaptureRequested', data: { ...ourPayment, capture_cents: 2200 } },
  { type: 'RefundRequested', data: { ...refund, refund_cents: 700, request_fingerprint: null } },
  { type: 'ProviderCallFailed', data: { ...failedCall, call: 'refund', refund_id: refund.refund_id } },
  refundRecorded({ status: 'pending' }),
  disputeRecorded({ is_new_status: false }),
  mismatched(),
  conflicted(),
  ignored(),
  { type: 'GuestTokenSeen', data: { guest_email: 'guest@example.com', occurred_at: '2026-01-02T03:04:05.678Z' } },
  applied(),
  received(),
  {
    type: 'SetupIntentCreated',
    data: {
      setup_intent_id: payment_id,
      occurred_at,
      provider_id: 'stripe',
      provider_setup_intent_id: 'seti_1',
      client_secret: 'seti_1_secret',
      provider_customer_id: null,
      user_id: 'u1',
      request_fingerprint: null,
    },
  },
  {
    type: 'ProviderCustomerLinked',
    data: { provider_id: 'stripe', user_id: 'u1', provider_customer_id: 'cus_1', occurred_at },
  },
  { type: 'GuestTokenSeen', data: { guest_email: 'a@example.com', occurred_at } },
]

t.test(
  'payment events lead to the specified canonical messages, and internal ones to none [6.2-created]',
  async (t) => {
    const failed = { ...ourPayment, failure_code: 'card_declined', failure_message: 'no', refusal: null }
    const intent = { ...ourPayment, provider_intent_id: 'pi', client_secret: null, attempt: 1 }
    t.strictSame(names({ type: 'ProviderIntentCreated', data: intent }), ['payment.created'])
    t.strictSame(names({ type: 'PaymentSucceeded', data: ourPayment }), ['payment.succeeded'])
    t.strictSame(names({ type: 'PaymentAttemptFailed', data: failed }), ['payment.failed'])
    t.strictSame(names({ type: 'PaymentCanceled', data: { ...ourPayment, reason: null } }), ['payment.failed'])
    for (const event of internalEvents) t.strictSame(names(event), [], event.type)
  },
)

t.test("a raw endpoint gets the provider's event byte for byte, with the provider's name", async (t) => {
  const body = '{"id":"evt_1", "amount": 300.00, "big": 12345678901234567890}'
  const [message] = messagesTo(received({ body }), endpointSettings(1, 'raw'))
  t.match(message, { event: 'stripe:payment_intent.succeeded', mode: 'raw', payment_id: null, user_id: null })
  t.ok(message?.body.endsWith(`,"data":${body}}`))
  t.match(JSON.parse(message?.body ?? ''), {
    event: 'stripe:payment_intent.succeeded',
    provider: 'stripe',
    timestamp: '2026-01-02T03:04:05.000Z',
    data: { id: 'evt_1' },
  })
})

t.test('endpoints receive only messages that match their mode and patterns', async (t) => {
  const endpoints = [
    endpointSettings(1, 'canonical', { EVENTS: 'payment.failed' }),
    endpointSettings(2, 'canonical', { EVENTS: 'payment.*' }),
    endpointSettings(3, 'raw', { EVENTS: 'payment_intent.*' }),
    endpointSettings(4, 'both', { EVENTS: 'payment.succeeded,stripe:*' }),
    endpointSettings(5, 'raw', { EVENTS: 'customer.*' }),
  ]
  const sent = (event: RecordedDomainEvent) =>
    messagesTo(event, ...endpoints).map((message) => `${message.node} ${message.event}`)
  t.strictSame(sent({ type: 'PaymentSucceeded', data: ourPayment }), ['2 payment.succeeded', '4 payment.succeeded'])
  t.strictSame(sent(received()), ['3 stripe:payment_intent.succeeded', '4 stripe:payment_intent.succeeded'])
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
