import { gzipSync } from 'node:zlib'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import t from 'tap'
import { decodeNodes, type WebhookNode } from './nodes.ts'
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
const subject = {
  object_id: 'obj_1' as string | null,
  amount_cents: 500 as number | null,
  currency: 'eur' as string | null,
  status: null as string | null,
  customer_id: 'cus_1',
  customer_email: 'bo@example.com',
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

t.test('every event of a payment is told under its name, or to nobody', async (t) => {
  const data = { ...facts, ...evidence }
  const failed = { ...data, failure_code: 'card_declined', failure_message: 'no', refusal: null }
  const intent = { ...facts, provider_intent_id: 'pi', client_secret: null, attempt: 1 }
  t.strictSame(names({ type: 'ProviderIntentCreated', data: intent }), ['payment.created'])
  t.strictSame(names({ type: 'PaymentSucceeded', data }), ['payment.succeeded'])
  t.strictSame(names({ type: 'PaymentAttemptFailed', data: failed }), ['payment.failed'])
  t.strictSame(names({ type: 'PaymentCanceled', data: { ...data, reason: null } }), ['payment.failed'])
  const silent: RecordedDomainEvent[] = [
    { type: 'ProviderOutcomeUnknown', data: { ...facts, attempt: 1, reason: 'timeout' } },
    { type: 'PaymentActionRequired', data },
    { type: 'PaymentProcessingStarted', data },
    { type: 'PaymentAmountMismatch', data: { ...data, reported_amount_cents: 1, reported_currency: 'USD' } },
    { type: 'PaymentConflictDetected', data: { ...data, reported_status: 'succeeded' } },
    { type: 'ProviderEventIgnored', data: { ...data, reported_status: 'failed', reason: 'final' } },
    { type: 'PaymentRefundRecorded', data: { ...data, refund_id: null, refunded_cents: 1 } },
    {
      type: 'PaymentDisputeRecorded',
      data: { ...data, dispute_id: null, disputed_cents: null, dispute_status: 'open' },
    },
    { type: 'ProviderIntentOwned', data: { payment_id, provider_id: 'sandbox', provider_intent_id: 'pi' } },
    { type: 'GuestTokenSeen', data: { guest_email: 'a@example.com', occurred_at: facts.occurred_at } },
    { type: 'ProviderEventReceived', data: { ...notification, received_at: facts.occurred_at, body: '{}' } },
  ]
  for (const event of silent) t.strictSame(names(event), [], event.type)
})

t.test('foreign notifications are translated by their generic names', async (t) => {
  const table = [
    ['payment_intent.succeeded', null, ['payment.succeeded']],
    ['payment_intent.failed', null, ['payment.failed']],
    ['payment_intent.canceled', null, ['payment.failed']],
    ['payment_intent.processing', null, []],
    ['payment_intent.requires_action', null, []],
    ['payment_method.attached', null, []],
    ['subscription.created', 'active', ['subscription.created', 'membership.activated']],
    ['subscription.created', 'trialing', ['subscription.created', 'membership.activated']],
    ['subscription.created', 'incomplete', ['subscription.created', 'membership.pending']],
    ['subscription.created', null, ['subscription.created', 'membership.pending']],
    ['subscription.updated', 'active', ['subscription.updated']],
    ['subscription.trial_will_end', 'trialing', ['subscription.updated']],
    ['subscription.deleted', null, ['subscription.cancelled', 'membership.cancelled']],
    ['invoice.payment_succeeded', 'paid', ['membership.extended']],
    ['invoice.payment_failed', 'open', ['membership.pending']],
    ['customer.created', null, ['customer.created']],
    ['customer.updated', null, ['customer.updated']],
    ['customer.deleted', null, ['customer.updated']],
    ['constructor', null, []],
    [null, null, []],
  ] as const
  for (const [generic_type, status, expected] of table)
    t.strictSame(
      names({ type: 'ProviderEventUnmatched', data: { ...notification, ...subject, generic_type, status } }),
      expected,
      `${generic_type} ${status}`,
    )
})

const translated = (overrides: Partial<typeof notification & typeof subject>) => {
  const data = { ...notification, ...subject, ...overrides }
  return outboundMessages(recorded({ type: 'ProviderEventUnmatched', data }), canonicalNode, options).map(({ body }) =>
    JSON.parse(body),
  )
}

t.test("a foreign payment carries the provider's ids, and is left out when it says no amount", async (t) => {
  t.strictSame(translated({}), [
    {
      event: 'payment.succeeded',
      provider: 'sandbox',
      timestamp: notification.occurred_at,
      data: {
        payment_id: 'obj_1',
        amount: 500,
        currency: 'EUR',
        status: 'succeeded',
        user: { id: 'cus_1', type: 'customer', email: 'bo@example.com' },
        project: { id: 'shop' },
        customer_id: 'cus_1',
      },
    },
  ])
  t.strictSame(translated({ amount_cents: null }), [])
  t.strictSame(translated({ currency: null }), [])
  t.strictSame(translated({ object_id: null }), [])
})

t.test('messages about subscriptions and customers name them', async (t) => {
  t.match(translated({ generic_type: 'subscription.deleted' }), [
    { data: { payment_id: null, subscription_id: 'obj_1', customer_id: 'cus_1', status: 'canceled' } },
    { data: { subscription_id: 'obj_1' } },
  ])
  t.match(translated({ generic_type: 'customer.deleted', object_id: 'cus_9', customer_id: 'cus_9' }), [
    { data: { payment_id: null, customer_id: 'cus_9', status: 'deleted', user: { id: 'cus_9' } } },
  ])
  t.match(translated({ generic_type: 'customer.created', object_id: null }), [{ data: { customer_id: 'cus_1' } }])
  t.match(translated({ generic_type: 'invoice.payment_failed' }), [{ data: { payment_id: 'obj_1' } }])
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

t.test('a notification that is kept compressed is told as it was sent', async (t) => {
  const body = `{"id":"evt_1","amount":300.00,"note":"${'\\"'.repeat(1000)}"}`
  const { data } = received('')
  const compressed = { ...data, body: gzipSync(body).toString('base64'), body_encoding: 'gzip' }
  const event = { type: 'ProviderEventReceived', data: compressed } as RecordedDomainEvent
  const [message] = outboundMessages(recorded(event), rawNode, options)
  t.ok(message?.body.endsWith(`,"data":${body}}`))
})

t.test('a notification that is no JSON is still passed on as valid JSON', async (t) => {
  const [message] = outboundMessages(recorded(received('a=1&b="2"')), rawNode, options)
  t.equal(JSON.parse(message?.body ?? '').data, 'a=1&b="2"')
})

t.test('a body is always text that can be signed and stored', async (t) => {
  for (const text of ['{"a":"\ud800"}', '\ud800', '{"a":"\0"}', '\0{}', '{"\udc00":[]}']) {
    const [message] = outboundMessages(recorded(received(text)), rawNode, options)
    t.ok(message?.body.isWellFormed(), JSON.stringify(text))
    t.notOk(message?.body.includes('\0'))
    t.doesNotThrow(() => JSON.parse(message?.body ?? ''))
  }
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
