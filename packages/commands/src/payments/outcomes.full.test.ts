import { paymentFold } from '@paylog/domain/payments/fold'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { paymentStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t from 'tap'
import { commandApiHarness } from '../testing/commandApiHarness.ts'

/** The fake provider's behaviour for createIntent. */
let provide: Provider['createIntent'] | undefined
let calls: Parameters<Provider['createIntent']>[0][] = []
const sandbox = createSandbox({ webhookSecrets: ['secret'] })
const provider: Provider = {
  ...sandbox,
  createIntent(request) {
    calls.push(request)
    return (provide ?? sandbox.createIntent)(request)
  },
}
const { app, store, time, providers } = await commandApiHarness(t, { providers: [provider] })

t.beforeEach(() => {
  provide = undefined
  calls = []
  time.now = () => new Date()
})

const guestBody = { total_cents: 2599, currency: 'eur', guest_data: { email: 'guest@example.com', name: 'Guest' } }
const post = (payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/payments/intents', headers, payload })
const eventsOf = async (paymentId: string) => (await store.readStream(paymentStream(paymentId))).map(({ type }) => type)
/** Records a success, as the provider's notification would. */
const settle = (paymentId: string) =>
  store.handle({
    stream: paymentStream(paymentId),
    fold: paymentFold,
    decide: (state) =>
      recordStatus(
        {
          status: 'succeeded',
          occurred_at: new Date().toISOString(),
          provider_time: new Date().toISOString(),
          provider_event_id: 'evt_1',
          provider_intent_id: null,
          provider_payment_id: 'ch_1',
          amount_cents: 2599,
          currency: 'eur',
        },
        state,
      ),
    metadata: { correlationId: 'test', causationId: 'test', actor: 'provider:sandbox' },
  })
let keys = 0
const freshKey = () => `key-${keys++}`

t.test('of 20 concurrent retries after an unreachable provider only one calls the provider', async (t) => {
  const headers = { 'idempotency-key': freshKey() }
  provide = async () => {
    throw new ProviderError('unavailable', 'connection_refused', 'The provider cannot be reached')
  }
  const { error } = (await post(guestBody, headers)).json()
  provide = async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    return sandbox.createIntent(request)
  }
  const responses = await Promise.all(Array.from({ length: 20 }, () => post(guestBody, headers)))
  const statuses = responses.map(({ statusCode }) => statusCode)
  t.ok(
    statuses.every((status) => status === 201 || status === 409),
    `${statuses}`,
  )
  t.equal(calls.length, 2)
  t.equal((await eventsOf(error.details.payment_id)).filter((type) => type === 'ProviderIntentCreated').length, 1)
})

t.test("a retry uses the payment's provider after another provider was enabled", async (t) => {
  const headers = { 'idempotency-key': freshKey() }
  const first = await post(guestBody, headers)
  providers.set('other', { ...sandbox, id: 'other' })
  t.same((await post(guestBody, headers)).json(), first.json())
  providers.delete('other')
})

t.test('a retry after the provider was disabled is rejected, and nothing is recorded', async (t) => {
  const headers = { 'idempotency-key': freshKey() }
  provide = async () => {
    throw new ProviderError('unavailable', 'connection_refused', 'The provider cannot be reached')
  }
  const { payment_id } = (await post(guestBody, headers)).json().error.details
  providers.delete('sandbox')
  const again = await post(guestBody, headers)
  providers.set('sandbox', provider)
  t.equal(again.statusCode, 422)
  t.match(again.json().error, { code: 'provider_not_enabled', details: { payment_id } })
  t.same(await eventsOf(payment_id), ['PaymentInitiated', 'ProviderCallFailed'])
})

t.test('the same key and body replay the payment, and another body is 422 [10.1-key-replay]', async (t) => {
  const headers = { 'idempotency-key': freshKey() }
  const first = await post(guestBody, headers)
  t.equal((await post({ ...guestBody, total_cents: 2600 }, headers)).json().error?.code, 'idempotency_key_reused')
  await settle(first.json().data.id)
  const late = await post(guestBody, headers)
  t.same([late.statusCode, late.json()], [201, first.json()], 'as it was before it succeeded')
  t.match(late.headers, { 'idempotent-replayed': 'true', etag: first.headers.etag })
  t.equal(calls.length, 1)
})

t.test('guessing an anonymous key opens a separate payment and blocks no caller [10.1-key-guessed]', async (t) => {
  const { guest_data: _, ...plainBody } = guestBody
  const from = (remoteAddress: string, payload: object) =>
    app.inject({ method: 'POST', url: '/payments/intents', headers, payload, remoteAddress })
  const headers = { 'idempotency-key': 'order-1001' }
  for (const payload of [guestBody, plainBody]) {
    const guessed = await from('203.0.113.5', { ...payload, total_cents: 1 })
    const first = await from('192.0.2.1', payload)
    t.same([guessed.statusCode, first.statusCode], [201, 201])
    const again = await from('192.0.2.77', payload)
    t.equal(again.headers['idempotent-replayed'], 'true')
    t.same(again.json(), first.json(), 'with its client_secret')
    const copied = await from('203.0.113.5', { ...payload, total_cents: 1 })
    t.same(copied.json(), guessed.json())
    t.notSame(copied.json().data.client_secret, first.json().data.client_secret)
  }
  const other = await from('192.0.2.1', { ...guestBody, guest_data: { email: 'other@example.com' } })
  t.equal(other.statusCode, 201, 'in the same network with another e-mail')
})

t.test('a retry finishes a crashed payment request with the same provider key [10.1-key-in-flight]', async (t) => {
  const headers = { 'idempotency-key': freshKey() }
  provide = async () => {
    throw new Error('the process died here')
  }
  t.equal((await post(guestBody, headers)).statusCode, 500)
  provide = undefined
  const early = await post(guestBody, headers)
  t.equal(early.statusCode, 409)
  t.match(early.json().error, { code: 'idempotency_key_in_flight' })
  time.now = () => new Date(Date.now() + 60_000)
  const late = await post(guestBody, headers)
  t.equal(late.statusCode, 201)
  t.equal(calls.length, 2)
  t.equal(calls[0]?.idempotency_key, calls[1]?.idempotency_key)
  t.same(await eventsOf(late.json().data.id), ['PaymentInitiated', 'ProviderIntentCreated'])
})
