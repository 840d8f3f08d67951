import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import { decodeNodes, type WebhookNode } from './nodes/nodes.ts'
import { outboundMessages, type SourceEvent } from './outbound.ts'

const payment_id = '0190a000-0000-7000-8000-000000000001'
const facts = {
  payment_id,
  occurred_at: '2026-01-02T03:04:05.678Z',
  provider_id: 'sandbox',
  amount_cents: 2200,
  currency: 'USD',
  payer: { id: 'u1', type: 'customer', email: 'ann@example.com' },
  project_id: null,
}
const evidence = { provider_time: facts.occurred_at, provider_event_id: 'evt_1', provider_payment_id: 'ch_1' }
const notification = {
  provider_id: 'sandbox',
  provider_event_id: 'evt_1',
  provider_type: 'payment_intent.succeeded',
  generic_type: 'payment_intent.succeeded' as string | null,
  occurred_at: '2026-01-02T03:04:05.000Z',
}
const recorded = (event: RecordedDomainEvent, stream = `payment-${payment_id}`): SourceEvent => ({
  ...event,
  id: '0190a000-0000-7000-8000-0000000000ff',
  stream,
  revision: 3n,
  metadata: { correlationId: 'req-1', causationId: 'cmd-1', actor: 'anonymous' },
})

function nodesFrom(settings: Readonly<Record<string, string>>): readonly WebhookNode[] {
  const { nodes, problems } = decodeNodes(settings)
  if (problems.length > 0) throw new Error(problems.join())
  return nodes
}

const node = (index: number, mode: string, events = 'all') => ({
  [`WEBHOOK_${index}_ENABLED`]: 'true',
  [`WEBHOOK_${index}_URL`]: `https://example.com/${index}`,
  [`WEBHOOK_${index}_EVENT_MODE`]: mode,
  [`WEBHOOK_${index}_EVENTS`]: events,
})
const canonicalNode = nodesFrom(node(1, 'canonical'))
const rawNode = nodesFrom(node(1, 'raw'))
const options = { projectId: 'shop' }
const names = (event: RecordedDomainEvent, nodes = canonicalNode) =>
  outboundMessages(recorded(event), nodes, options).map((message) => message.event)

t.test('a succeeded payment is told with exactly the payload of the interface', async (t) => {
  const [message, ...more] = outboundMessages(
    recorded({ type: 'PaymentSucceeded', data: { ...facts, ...evidence } }),
    canonicalNode,
    options,
  )
  t.strictSame(more, [])
  t.strictSame(JSON.parse(message?.body ?? ''), {
    event: 'payment.succeeded',
    provider: 'sandbox',
    timestamp: facts.occurred_at,
    data: {
      payment_id,
      amount: 2200,
      currency: 'USD',
      status: 'succeeded',
      user: facts.payer,
      project: { id: 'shop' },
    },
  })
  t.match(message, {
    node: '1',
    event: 'payment.succeeded',
    mode: 'canonical',
    provider: 'sandbox',
    source_stream: `payment-${payment_id}`,
    source_revision: 3n,
    source_event_id: '0190a000-0000-7000-8000-0000000000ff',
    correlation_id: 'req-1',
    causation_id: 'cmd-1',
    payment_id,
    user_id: 'u1',
  })
})

t.test("a payment's own project wins, and an anonymous payer stays anonymous", async (t) => {
  const payer = { id: null, type: 'guest', email: null }
  const [message] = outboundMessages(
    recorded({ type: 'PaymentCanceled', data: { ...facts, ...evidence, payer, project_id: 'own', reason: null } }),
    canonicalNode,
    options,
  )
  t.match(JSON.parse(message?.body ?? ''), {
    event: 'payment.failed',
    data: { status: 'canceled', user: payer, project: { id: 'own' } },
  })
  t.equal(message?.user_id, null)
})

const data = { ...facts, ...evidence }
/** One event of every type that is told to nobody in canonical messages. */
const silent: readonly RecordedDomainEvent[] = [
  {
    type: 'PaymentInitiated',
    data: {
      ...facts,
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
  { type: 'ProviderOutcomeUnknown', data: { ...facts, attempt: 1, reason: 'timeout' } },
  { type: 'PaymentAttemptStarted', data: { ...facts, attempt: 2 } },
  { type: 'PaymentActionRequired', data },
  { type: 'PaymentProcessingStarted', data },
  { type: 'PaymentAmountMismatch', data: { ...data, reported_amount_cents: 1, reported_currency: 'USD' } },
  { type: 'PaymentConflictDetected', data: { ...data, reported_status: 'succeeded' } },
  { type: 'ProviderEventIgnored', data: { ...data, reported_status: 'failed', reason: 'final' } },
  { type: 'PaymentRefundRecorded', data: { ...data, refund_id: null, refunded_cents: 1 } },
  { type: 'PaymentDisputeRecorded', data: { ...data, dispute_id: null, disputed_cents: null, dispute_status: 'open' } },
  { type: 'ProviderIntentOwned', data: { payment_id, provider_id: 'sandbox', provider_intent_id: 'pi' } },
  {
    type: 'ProviderEventApplied',
    data: {
      ...notification,
      object_id: 'pi',
      amount_cents: 2200,
      currency: 'USD',
      status: 'succeeded',
      payment_id,
      payer: facts.payer,
      project_id: null,
    },
  },
  { type: 'ProviderEventReceived', data: { ...notification, received_at: facts.occurred_at, body: '{}' } },
  {
    type: 'SetupIntentCreated',
    data: {
      setup_intent_id: payment_id,
      occurred_at: facts.occurred_at,
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
    data: { provider_id: 'stripe', user_id: 'u1', provider_customer_id: 'cus_1', occurred_at: facts.occurred_at },
  },
  { type: 'GuestTokenSeen', data: { guest_email: 'a@example.com', occurred_at: facts.occurred_at } },
]

t.test('every event of a payment is told under its name, or to nobody', async (t) => {
  const failed = { ...data, failure_code: 'card_declined', failure_message: 'no', refusal: null }
  const intent = { ...facts, provider_intent_id: 'pi', client_secret: null, attempt: 1 }
  t.strictSame(names({ type: 'ProviderIntentCreated', data: intent }), ['payment.created'])
  t.strictSame(names({ type: 'PaymentSucceeded', data }), ['payment.succeeded'])
  t.strictSame(names({ type: 'PaymentAttemptFailed', data: failed }), ['payment.failed'])
  t.strictSame(names({ type: 'PaymentCanceled', data: { ...data, reason: null } }), ['payment.failed'])
  for (const event of silent) t.strictSame(names(event), [], event.type)
})

const received = (body: string): RecordedDomainEvent => ({
  type: 'ProviderEventReceived',
  data: { ...notification, received_at: facts.occurred_at, body },
})

t.test("a raw node gets the provider's own event to the byte, under the provider's name", async (t) => {
  const body = '{"id":"evt_1", "amount": 300.00, "big": 12345678901234567890}'
  const [message] = outboundMessages(recorded(received(body), 'providerEvent-sandbox:evt_1'), rawNode, options)
  t.match(message, { event: 'sandbox:payment_intent.succeeded', mode: 'raw', payment_id: null, user_id: null })
  t.ok(message?.body.endsWith(`,"data":${body}}`))
  t.match(JSON.parse(message?.body ?? ''), {
    event: 'sandbox:payment_intent.succeeded',
    provider: 'sandbox',
    timestamp: notification.occurred_at,
    data: { id: 'evt_1' },
  })
})

t.test('nodes get what their mode and patterns ask for', async (t) => {
  const nodes = nodesFrom({
    ...node(1, 'canonical', 'payment.failed'),
    ...node(2, 'canonical', 'payment.*'),
    ...node(3, 'raw', 'payment_intent.*'),
    ...node(4, 'both', 'payment.succeeded,sandbox:*'),
    ...node(5, 'raw', 'customer.*'),
  })
  const told = (event: RecordedDomainEvent) =>
    outboundMessages(recorded(event), nodes, options).map((message) => `${message.node} ${message.event}`)
  t.strictSame(told({ type: 'PaymentSucceeded', data: { ...facts, ...evidence } }), [
    '2 payment.succeeded',
    '4 payment.succeeded',
  ])
  t.strictSame(told(received('{}')), ['3 sandbox:payment_intent.succeeded', '4 sandbox:payment_intent.succeeded'])
})

t.test('an id depends on stream, revision, name and node, and on nothing else', async (t) => {
  const event = recorded({ type: 'PaymentSucceeded', data: { ...facts, ...evidence } })
  const nodes = nodesFrom({ ...node(1, 'canonical'), ...node(2, 'canonical') })
  const ids = (source: SourceEvent) => outboundMessages(source, nodes, options).map(({ id }) => id)
  t.strictSame(ids(event), ids({ ...event, id: 'other', metadata: { ...event.metadata, correlationId: 'other' } }))
  const all = [event, { ...event, revision: 4n }, { ...event, stream: 'payment-other' }].flatMap(ids)
  t.equal(new Set(all).size, 6)
  t.match(all[0], /^[0-9a-f]{8}-[0-9a-f]{4}-5/)
})
