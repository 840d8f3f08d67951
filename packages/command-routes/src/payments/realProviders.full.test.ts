// Opening payments at fakes of every real provider, over its wire format.

import { paymentStream } from '@paylog/event-store/streamName'
import { type FakeProvider, startFakeProviders } from '@paylog/testing/fakeProviders'
import type { Fault } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import { reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import t from 'tap'
import { commandApiHarness, freshKey } from '../testing/commandApiHarness.ts'
import { providerFromEnv, providerTimeoutMs } from '../testing/fakeProviders.ts'

const fakes = await startFakeProviders(t)
const adapters = await Promise.all(fakes.map((fake) => providerFromEnv(t, fake.env)))
const { app, store, providers, workflow, lastPosition } = await commandApiHarness(t, { providers: adapters })
const url = await app.listen({ host: '127.0.0.1', port: 0 })

t.beforeEach(() => {
  for (const fake of fakes) fake.faults.always(undefined)
  for (const adapter of adapters) providers.set(adapter.id, adapter)
})

const body = {
  total_cents: 2599,
  currency: 'usd',
  concept: 'Membership',
  description: 'One year',
  metadata: { order: 'order-of-the-client' },
  guest_data: { email: 'guest@example.com', name: 'Guest' },
}

async function post(fake: FakeProvider, headers: Record<string, string> = {}, more: object = {}) {
  const response = await fetch(`${url}/payments/intents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, provider_id: fake.id, ...more }),
  })
  const json: unknown = await response.json()
  const { data, error } = json as {
    data?: Record<string, string>
    error?: { code: string; message: string; details?: { payment_id?: string } }
  }
  return {
    status: response.status,
    replayed: response.headers.get('idempotent-replayed') === 'true',
    position: response.headers.get('x-event-position'),
    json,
    data,
    error,
    id: data?.id ?? error?.details?.payment_id ?? '',
  }
}
const typesOf = async (paymentId: string) => (await store.readStream(paymentStream(paymentId))).map(({ type }) => type)
const reconcile = (paymentId: string) =>
  reconcilePayment(workflow, paymentId, { correlationId: 'test', causationId: 'test', actor: 'worker' })

for (const fake of fakes) {
  t.test(
    `${fake.id}: an opened payment has everything that a client needs to pay it [1-payment-intents]`,
    async (t) => {
      const before = fake.creations()
      const { status, data, id, position } = await post(fake)
      t.equal(status, 201)
      t.match(data, {
        subtotal_cents: 2599,
        tax_cents: 0,
        discount_cents: 0,
        total_cents: 2599,
        amount_cents: 2599,
        currency: 'USD',
        status: 'pending',
        concept: 'Membership',
        description: 'One year',
        reference_code: null,
        category: null,
        tags: null,
        provider_id: fake.id,
        provider_payment_id: null,
        provider_intent_id: /./,
        client_secret: /./,
        payment_method_id: null,
        payment_method: null,
        is_guest_payment: true,
        guest_email: 'guest@example.com',
        metadata: { order: 'order-of-the-client' },
        created_at: /Z$/,
        updated_at: /Z$/,
        completed_at: null,
      })
      t.match(position, /^\d+$/)
      t.same(await typesOf(id), ['PaymentInitiated', 'ProviderIntentCreated'])
      t.equal(fake.creations(), before + 1)
      t.equal(fake.intentsOf(id), 1)
      t.same(fake.chargesOf(id), [], 'nothing is charged before the payer acts')
    },
  )

  t.test(`${fake.id}: 24 concurrent identical requests open one payment with one intent`, async (t) => {
    const before = fake.creations()
    fake.faults.next({ kind: 'slow', ms: 100 })
    const headers = freshKey()
    const responses = await Promise.all(Array.from({ length: 24 }, () => post(fake, headers)))
    const statuses = [...new Set(responses.map(({ status }) => status))]
    t.ok(
      statuses.every((status) => status === 201 || status === 409),
      `${statuses}`,
    )
    t.equal(responses.filter(({ status, replayed }) => status === 201 && !replayed).length, 1)
    const ids = new Set(responses.map(({ id }) => id))
    t.equal(ids.size, 1)
    const [id = ''] = ids
    t.equal(fake.intentsOf(id), 1)
    t.equal(fake.creations(), before + 1)
    const again = await post(fake, headers)
    t.same([again.status, again.replayed], [201, true])
    t.same(again.json, responses.find(({ status }) => status === 201)?.json)
    t.match(await post(fake, headers, { total_cents: 2600 }), {
      status: 422,
      error: { code: 'idempotency_key_reused' },
    })
    t.equal(fake.creations(), before + 1)
  })

  t.test(
    `${fake.id}: a call whose response is lost is retried within the request and finds the same intent`,
    async (t) => {
      const lost: Fault[] = [true, false].flatMap((commits) => [
        { kind: 'drop', commits },
        { kind: 'garbage', commits },
        { kind: 'status', status: 500, commits },
        { kind: 'status', status: 503, commits },
      ])
      for (const fault of lost) {
        fake.faults.next(fault)
        const { status, id } = await post(fake, freshKey())
        const name = JSON.stringify(fault)
        t.equal(status, 201, name)
        t.equal(fake.intentsOf(id), 1, name)
        t.same(await typesOf(id), ['PaymentInitiated', 'ProviderIntentCreated'], name)
      }
    },
  )

  t.test(`${fake.id}: an outcome that stays unknown is 504, and reconciled later [10.2-unknown]`, async (t) => {
    const lost: Fault[] = [
      { kind: 'drop', commits: true },
      { kind: 'drop', commits: false },
      { kind: 'garbage', commits: true },
      { kind: 'status', status: 500, commits: false },
      { kind: 'hang', commits: true },
      { kind: 'hang', commits: false },
      { kind: 'slow', ms: 2 * providerTimeoutMs },
    ]
    const headers = lost.map(freshKey)
    for (const [n, fault] of lost.entries()) {
      const name = JSON.stringify(fault)
      fake.faults.always(fault)
      const [started, calls] = [performance.now(), fake.creations()]
      const { status, error, id } = await post(fake, headers[n])
      const tries = fault.kind === 'hang' || fault.kind === 'slow' ? 1 : 3
      t.equal(fake.creations(), calls + tries, `${name} is tried ${tries} times`)
      t.ok(performance.now() - started < providerTimeoutMs + 5_000, `${name} times out`)
      t.equal(status, 504, name)
      t.match(error, { code: 'provider_outcome_unknown', details: { payment_id: /-/ } }, name)
      t.same(await typesOf(id), ['PaymentInitiated', 'ProviderOutcomeUnknown'], name)
      const before = fake.creations()
      const again = await post(fake, headers[n])
      t.match(again, { status: 201, replayed: true, data: { id, status: 'pending', client_secret: null } }, name)
      t.equal(fake.creations(), before, 'the retry makes no provider call')
      fake.faults.always(undefined)
      // The provider rejects a second call with the same key while the first one is running.
      await waitFor(async () => (await reconcile(id)).finding === 'late', { what: `the end of ${name}` })
      t.equal(fake.intentsOf(id), 1, name)
      const present = await post(fake, headers[n])
      t.match(present, { status: 201, replayed: true, data: { id, client_secret: /./, provider_intent_id: /./ } }, name)
      t.same(await typesOf(id), ['PaymentInitiated', 'ProviderOutcomeUnknown', 'ProviderIntentCreated'], name)
    }
  })

  t.test(`${fake.id}: a slow response within the timeout opens the payment`, async (t) => {
    fake.faults.next({ kind: 'slow', ms: providerTimeoutMs / 3 })
    const before = fake.creations()
    t.equal((await post(fake)).status, 201)
    t.equal(fake.creations(), before + 1)
  })

  t.test(
    `${fake.id}: an unreachable provider or an authentication error is 502 and can be retried [10.2-unreachable]`,
    async (t) => {
      const closed = `http://127.0.0.1:${await freePort()}`
      const isBase = (name: string) => name.endsWith('_API_BASE')
      const isSecret = (name: string) => /SECRET_KEY|CLIENT_SECRET|TRANSACTION_KEY/.test(name)
      const withOther = (matches: (name: string) => boolean, other: string) =>
        providerFromEnv(
          t,
          Object.fromEntries(Object.entries(fake.env).map(([name, value]) => [name, matches(name) ? other : value])),
        )
      const headers = freshKey()
      providers.set(fake.id, await withOther(isBase, closed))
      const down = await post(fake, headers)
      t.match(down, { status: 502, error: { code: 'provider_unavailable', details: { payment_id: /-/ } } })
      t.same(await typesOf(down.id), ['PaymentInitiated', 'PaymentAttemptFailed'])
      providers.set(fake.id, await withOther(isSecret, 'sk_test_wrong'))
      const unknown = await post(fake, headers)
      t.match(unknown, { status: 502, id: down.id, error: { code: 'provider_unavailable' } })
      t.equal(unknown.error?.message.includes('sk_test_wrong'), false)
      const adapter = adapters.find(({ id }) => id === fake.id)
      if (adapter) providers.set(fake.id, adapter)
      t.match(await post(fake, headers), { status: 201, id: down.id, replayed: false, data: { status: 'pending' } })
      t.same(await typesOf(down.id), [
        'PaymentInitiated',
        'PaymentAttemptFailed',
        'PaymentAttemptStarted',
        'PaymentAttemptFailed',
        'PaymentAttemptStarted',
        'ProviderIntentCreated',
      ])
      t.equal(fake.intentsOf(down.id), 1)
      t.match(await post(fake, headers), { status: 201, id: down.id, replayed: true })
    },
  )

  t.test(`${fake.id}: an unsupported currency is rejected before anything is recorded`, async (t) => {
    const before = [await lastPosition(), fake.creations()]
    const rejected = await post(fake, freshKey(), { currency: 'LYD' })
    t.match(rejected, { status: 422, id: '', error: { code: 'currency_not_supported' } })
    t.same([await lastPosition(), fake.creations()], before)
  })
}

t.test('an unknown or disabled provider opens no payment [10.1-provider-unknown]', async (t) => {
  const before = await lastPosition()
  const [stripe] = fakes
  if (!stripe) throw new Error('no fake Stripe')
  providers.delete('stripe')
  for (const provider_id of ['stripe', 'sandbox', 'adyen', 'constructor'])
    t.match(await post(stripe, {}, { provider_id }), { status: 422, error: { code: 'provider_not_enabled' } })
  t.match(await post(stripe, {}, { provider_id: undefined }), { status: 400, error: { code: 'invalid_request' } })
  t.equal(await lastPosition(), before)
})
