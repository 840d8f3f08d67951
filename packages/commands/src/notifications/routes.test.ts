import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import t from 'tap'
import { commandApiHarness, webhookSecret } from '../testing/commandApiHarness.ts'

const { app, store, activityOf } = await commandApiHarness(t)

let counter = 0
const seconds = () => Math.floor(Date.now() / 1000)

async function openPayment() {
  const response = await app.inject({
    method: 'POST',
    url: '/payments/intents',
    payload: { total_cents: 2599, currency: 'EUR' },
  })
  const { id, provider_intent_id } = response.json().data
  return { id: String(id), intent: String(provider_intent_id) }
}

const eventBody = (type: string, intent: string, more: { id?: string; created?: number; object?: object } = {}) =>
  JSON.stringify({
    id: more.id ?? `evt_${Date.now()}_${counter++}`,
    type,
    provider: 'sandbox',
    created: more.created ?? seconds(),
    data: { object: { id: intent, amount: 2599, currency: 'eur', status: 'x', customer: null, ...more.object } },
  })
const send = (body: string | Buffer, signature = signSandboxEvent(webhookSecret, body, seconds())) =>
  app.inject({
    method: 'POST',
    url: '/webhooks/sandbox',
    headers: { 'content-type': 'application/json', 'sandbox-signature': signature },
    payload: body,
  })
const eventsOf = async (stream: string) => (await store.readStream(stream)).map(({ type }) => type)
const received = 'ProviderNotificationReceived'

t.test('a signed success settles the payment, and the notification is stored unchanged [4.12-received]', async (t) => {
  const { id, intent } = await openPayment()
  const body = eventBody('payment_intent.succeeded', intent, { id: 'evt_success' }).replace('{', '{ ')
  const response = await send(body)
  t.equal(response.statusCode, 200)
  t.same(response.json(), { received: true })
  const [, , stored, succeeded, ...others] = await store.readStream(paymentStream(id))
  t.same([stored?.type, succeeded?.type, others], [received, 'PaymentSucceeded', []])
  t.match(stored, { data: { body, reported_amount_cents: 2599, reported_currency: 'EUR' } })
  t.match(stored, { metadata: { actor: 'provider:sandbox' } })
})

t.test('concurrent notifications about one payment are all accepted', async (t) => {
  const { id, intent } = await openPayment()
  const bodies = Array.from({ length: 12 }, () => eventBody('payment_intent.failed', intent))
  const responses = await Promise.all(bodies.map((body) => send(body)))
  t.same([...new Set(responses.map(({ statusCode }) => statusCode))], [200])
  t.equal((await eventsOf(paymentStream(id))).length, 2 + 2 * bodies.length)
})

t.test('a failed payment may succeed later [3-retry-success]', async (t) => {
  const { id, intent } = await openPayment()
  for (const type of ['payment_intent.failed', 'payment_intent.succeeded']) await send(eventBody(type, intent))
  const history = (await eventsOf(paymentStream(id))).filter((type) => type !== received)
  t.same(history.slice(2), ['PaymentAttemptFailed', 'PaymentSucceeded'])
})

t.test('late, contradicting and mismatching notifications are recorded with 200 [4.12-late]', async (t) => {
  const { id, intent } = await openPayment()
  const created = seconds()
  for (const body of [
    eventBody('payment_intent.succeeded', intent, { created, object: { amount: 1 } }),
    eventBody('payment_intent.succeeded', intent, { created }),
    eventBody('payment_intent.processing', intent, { created: created - 60 }),
    eventBody('payment_intent.canceled', intent, { created: created + 60 }),
  ])
    t.equal((await send(body)).statusCode, 200)
  t.same((await eventsOf(paymentStream(id))).slice(2), [
    ...[received, 'PaymentAmountMismatch'],
    ...[received, 'PaymentSucceeded'],
    ...[received, 'ProviderEventIgnored'],
    ...[received, 'ProviderEventIgnored'],
  ])
})

t.test('a notification that names an unknown payment is recorded as unmatched', async (t) => {
  const object = { metadata: { payment_id: '018f0000-0000-7000-8000-00000000dead' } }
  const body = eventBody('payment_intent.succeeded', 'sandbox_pi_x', { id: 'evt_unknown', object })
  t.equal((await send(body)).statusCode, 200)
  const types = await eventsOf(providerEventStream('sandbox', 'evt_unknown'))
  t.same(types, ['ProviderEventReceived', 'ProviderEventUnmatched'])
})

t.test('a notification that names our payment but another intent changes nothing [10.2-other-intent]', async (t) => {
  const { id } = await openPayment()
  const body = eventBody('payment_intent.succeeded', 'sandbox_pi_foreign', { object: { metadata: { payment_id: id } } })
  t.equal((await send(body)).statusCode, 200)
  t.same((await eventsOf(paymentStream(id))).slice(2), ['ProviderEventIgnored'])
})

t.test("a declined payment is not paid by another payment's intent", async (t) => {
  const payload = { total_cents: 2599, currency: 'EUR', payment_method_id: 'pm_card_declined' }
  const declined = await app.inject({ method: 'POST', url: '/payments/intents', payload })
  const { payment_id } = declined.json().error.details
  await send(eventBody('payment_intent.succeeded', 'sandbox_pi_foreign', { object: { metadata: { payment_id } } }))
  t.same(await eventsOf(paymentStream(payment_id)), ['PaymentInitiated', 'ProviderCallFailed', 'ProviderEventIgnored'])
})

t.test("a notification is applied to its intent's payment even if it names another payment", async (t) => {
  const [named, paid] = [await openPayment(), await openPayment()]
  const object = { metadata: { payment_id: named.id } }
  await send(eventBody('payment_intent.succeeded', paid.intent, { object }))
  t.same((await eventsOf(paymentStream(named.id))).slice(2), [])
  t.same((await eventsOf(paymentStream(paid.id))).slice(2), [received, 'PaymentSucceeded'])
})

t.test('a notification body of nearly 1 MiB is stored byte for byte', async (t) => {
  const { id, intent } = await openPayment()
  const body = eventBody('payment_intent.processing', intent, {
    id: 'evt_large',
    object: { note: '"'.repeat(520_000) },
  })
  t.equal((await send(body)).statusCode, 200)
  const [, , stored] = await store.readStream(paymentStream(id))
  if (stored?.type !== received) throw new Error('not stored')
  t.equal(stored.data.body, body)
})

t.test('a signed success without an amount is recorded with its payment, and pays nothing', async (t) => {
  const { id, intent } = await openPayment()
  const body = eventBody('payment_intent.succeeded', intent, { object: { amount: '' } })
  t.equal((await send(body)).statusCode, 200)
  t.same((await eventsOf(paymentStream(id))).slice(2), [received])
})

t.test(
  'notifications with wrong signatures or malformed bodies are 400, and nothing is recorded [4.12-bad-signature]',
  async (t) => {
    const { intent } = await openPayment()
    const before = (await store.head())?.commit
    const body = eventBody('payment_intent.succeeded', intent)
    const withoutId = eventBody('payment_intent.succeeded', intent, { id: '' })
    for (const [response, code] of [
      [await send(body, signSandboxEvent('wrong', body, seconds())), 'invalid_signature'],
      [await send(body, signSandboxEvent(webhookSecret, body, seconds() - 400)), 'invalid_signature'],
      [await send(body, signSandboxEvent(webhookSecret, body, seconds() + 400)), 'invalid_signature'],
      [await send(`${body}\n`, signSandboxEvent(webhookSecret, body, seconds())), 'invalid_signature'],
      [await app.inject({ method: 'POST', url: '/webhooks/sandbox' }), 'invalid_signature'],
      [await send('{}'), 'invalid_request'],
      [await send('no json'), 'invalid_request'],
      [await send(`\ufeff${body}`), 'invalid_request'],
      [await send(withoutId), 'invalid_request'],
    ] as const)
      t.match([response.statusCode, response.json()], [400, { success: false, error: { code } }], code)
    t.equal((await store.head())?.commit, before, 'nothing was recorded')
  },
)

t.test('what a receiver accepts, and what it refuses for its signature, is recorded of the provider', async (t) => {
  const { intent } = await openPayment()
  const body = eventBody('payment_intent.processing', intent)
  await send(body)
  await activityOf('sandbox', (activity) => activity.signatures_refused === 0)
  await send(body, signSandboxEvent('wrong', body, seconds()))
  await app.inject({ method: 'POST', url: '/webhooks/sandbox' })
  await send('{}')
  const refused = await activityOf('sandbox', ({ signatures_refused }) => signatures_refused === 2)
  t.match(refused, { notified_type: 'payment_intent.processing', notified_at: Date, signature_refused_at: Date })
  await send(body)
  await activityOf('sandbox', ({ signatures_refused }) => signatures_refused === 0)
})
