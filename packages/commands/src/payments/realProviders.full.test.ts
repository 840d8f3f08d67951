// Opening payments at fakes of every real provider, over its wire format.
import { paymentStream } from '@paylog/event-store/streamName'
import { matchList } from '@paylog/testing/assertions'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { type FakeProvider, startFakeProviders } from '@paylog/testing/fakeProviders'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { freePort } from '@paylog/testing/processes'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { commandApiHarness, freshKey, type Headers } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const fakes = await startFakeProviders(t)
const adapters = await Promise.all(fakes.map((fake) => providerFromEnv(t, fake.env)))
const { send, store, providers, workflow, recordsNothing } = await commandApiHarness(t, { providers: adapters })

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

async function post(provider_id: string, headers: Headers = {}, more: object = {}) {
  const response = await send<Record<string, unknown>>('POST', '/payments/intents', headers, {
    ...{ ...body, provider_id, ...more },
  })
  const { payment_id } = Object(response.error?.details)
  return {
    ...response,
    id: String(response.data?.id ?? payment_id ?? ''),
    replayed: response.headers['idempotent-replayed'] === 'true',
  }
}
const eventsOf = (id: string) => store.readStream(paymentStream(id))
const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type)
const reconcile = (id: string) =>
  reconcilePayment(workflow, id, { correlationId: 'test', causationId: 'test', actor: 'worker' })
/** An adapter that differs in the variables whose names match. */
const adapterWith = (t: Parameters<typeof providerFromEnv>[0], fake: FakeProvider, names: RegExp, other: string) => {
  const env = Object.entries(fake.env).map(([name, value]) => [name, names.test(name) ? other : value])
  return providerFromEnv(t, Object.fromEntries(env))
}

for (const fake of fakes) {
  t.test(
    `${fake.id}: an opened payment has everything that a client needs to pay it [1-payment-intents 2.1-created]`,
    async (t) => {
      const before = fake.creations()
      const { status, data, id, headers } = await post(fake.id)
      t.equal(status, 201)
      t.match(data, {
        ...{ subtotal_cents: 2599, tax_cents: 0, discount_cents: 0, total_cents: 2599, amount_cents: 2599 },
        ...{ currency: 'USD', status: 'pending', concept: 'Membership', description: 'One year' },
        ...{ reference_code: null, category: null, tags: null, metadata: { order: 'order-of-the-client' } },
        ...{ provider_id: fake.id, provider_payment_id: null, provider_intent_id: /./, client_secret: /./ },
        ...{ payment_method_id: null, payment_method: null, is_guest_payment: true, guest_email: 'guest@example.com' },
        ...{ created_at: /Z$/, updated_at: /Z$/, completed_at: null },
      })
      t.match(headers, { 'x-event-position': /^\d+$/, etag: '"1"' })
      t.same(await typesOf(id), ['PaymentInitiated', 'ProviderIntentCreated'])
      t.equal(fake.creations(), before + 1)
      t.equal(fake.intentsOf(id), 1)
      t.same(fake.chargesOf(id), [], 'nothing is charged before the payer acts')
    },
  )

  t.test(`${fake.id}: 24 identical requests at the same moment open one payment with one intent`, async (t) => {
    const before = fake.creations()
    fake.faults.next({ kind: 'slow', ms: 100 })
    const headers = freshKey()
    const responses = await Promise.all(Array.from({ length: 24 }, () => post(fake.id, headers)))
    for (const { status } of responses) t.ok(status === 201 || status === 409, `${status}`)
    t.equal(responses.filter(({ status, replayed }) => status === 201 && !replayed).length, 1)
    const [id = '', ...more] = new Set(responses.map((each) => each.id))
    t.same([more, fake.intentsOf(id), fake.creations()], [[], 1, before + 1])
  })

  t.test(
    `${fake.id}: an outcome that stays unknown is 504, and reconciled later [10.1-key-unknown 10.2-unknown]`,
    async (t) => {
      for (const fault of [
        { kind: 'drop', commits: true },
        { kind: 'hang', commits: false },
      ] as const) {
        const headers = freshKey()
        fake.faults.always(fault)
        const { status, error, id } = await post(fake.id, headers)
        t.match([status, error], [504, { code: 'provider_outcome_unknown', details: { payment_id: id } }], fault.kind)
        const calls = fake.creations()
        t.match(await post(fake.id, headers), { replayed: true, data: { id, status: 'pending', client_secret: null } })
        t.equal(fake.creations(), calls, 'the retry makes no provider call')
        fake.faults.always(undefined)
        t.equal((await reconcile(id)).finding, 'late')
        t.equal(fake.intentsOf(id), 1)
        t.match(await post(fake.id, headers), { replayed: true, data: { id, client_secret: /./ } })
        t.same(await typesOf(id), ['PaymentInitiated', 'ProviderCallFailed', 'ProviderIntentCreated'])
      }
    },
  )

  t.test(
    `${fake.id}: an unreachable provider or a wrong secret is 502, and can be retried [10.2-unreachable]`,
    async (t) => {
      const headers = freshKey()
      const closed = `http://127.0.0.1:${await freePort()}`
      for (const [names, other] of [
        [/_API_BASE$/, closed],
        [/SECRET_KEY|CLIENT_SECRET|TRANSACTION_KEY/, 'sk_test_wrong'],
      ] as const) {
        providers.set(fake.id, await adapterWith(t, fake, names, other))
        const failed = await post(fake.id, headers)
        t.match(failed, { status: 502, error: { code: 'provider_unavailable' } })
        t.notMatch(failed.text, other)
      }
      for (const adapter of adapters) providers.set(adapter.id, adapter)
      const { status, id, replayed } = await post(fake.id, headers)
      t.same([status, replayed, fake.intentsOf(id)], [201, false, 1])
      const attempts = ['ProviderCallFailed', 'PaymentAttemptStarted']
      t.same(await typesOf(id), ['PaymentInitiated', ...attempts, ...attempts, 'ProviderIntentCreated'])
    },
  )

  t.test(`${fake.id}: an unsupported currency is rejected before anything is recorded`, async (t) => {
    const rejected = await recordsNothing(t, () => post(fake.id, freshKey(), { currency: 'LYD' }))
    t.match(rejected, { status: 422, id: '', error: { code: 'currency_not_supported' } })
  })
}

t.test('an unknown or disabled provider opens no payment [10.1-provider-unknown]', async (t) => {
  providers.delete('stripe')
  for (const provider_id of ['stripe', 'sandbox', 'adyen', 'constructor'])
    t.match(await recordsNothing(t, () => post(provider_id)), { status: 422, error: { code: 'provider_not_enabled' } })
  const unnamed = await recordsNothing(t, () => post('stripe', {}, { provider_id: undefined }))
  t.match(unnamed, { status: 400, error: { code: 'invalid_request' } })
})

t.test(
  'a rejection by the provider has its code and payment id, is recorded, and is replayed [10.1-key-declined 10.2-rejected]',
  async (t) => {
    const [stripe, paypal, gateway] = [
      await startFakeStripe(t),
      await startFakePaypal(t),
      await startFakeAuthorizeNet(t),
    ]
    for (const { env } of [stripe, paypal, gateway]) {
      const adapter = await providerFromEnv(t, { ...env, PROVIDER_TIMEOUT_MS: '10000' })
      providers.set(adapter.id, adapter)
    }
    // Texts of a provider may contain data, and must not reach callers.
    const text = 'Text of the provider about card 4242'
    const error = { type: 'invalid_request_error', code: 'parameter_unknown', message: text } as const
    for (const [provider_id, reject, more, status, code, failure_code] of [
      [
        'stripe',
        () => {},
        { payment_method_id: 'pm_card_chargeDeclined' },
        402,
        'payment_declined',
        'insufficient_funds',
      ],
      ['stripe', () => stripe.failNext({ status: 400, error }), {}, 422, 'provider_rejected', 'parameter_unknown'],
      [
        'paypal',
        () => paypal.rejectNext('PAYEE_BLOCKED_TRANSACTION'),
        {},
        402,
        'payment_declined',
        'payee_blocked_transaction',
      ],
      [
        'paypal',
        () => paypal.rejectNext('CURRENCY_NOT_SUPPORTED'),
        {},
        422,
        'currency_not_supported',
        'currency_not_supported',
      ],
      ['authorize-net', () => gateway.failNext('E00013', { text }), {}, 422, 'provider_rejected', 'E00013'],
    ] as const) {
      const headers = freshKey()
      reject()
      const first = await post(provider_id, headers, more)
      t.match(first, { status, error: { code, message: String } }, failure_code)
      t.same(first.error?.details, { payment_id: first.id })
      t.match(first.headers['x-event-position'], /^\d+$/)
      const events = await eventsOf(first.id)
      matchList(t, events, [
        { type: 'PaymentInitiated' },
        { type: 'ProviderCallFailed', data: { call: 'create', error_code: code, failure_code } },
      ])
      t.notMatch(JSON.stringify([first.text, ...events.map(({ data }) => data)]), /Text of/)
      const again = await recordsNothing(t, () => post(provider_id, headers, more))
      t.match(again, { status, replayed: true, id: first.id, error: { code } })
    }
  },
)

t.test(
  'a payment whose calls are all throttled stays pending, and is created by the same key later [10.2-throttled-out]',
  async (t) => {
    const stripe = await startFakeStripe(t)
    // All calls must be throttled within this time, on a loaded machine too.
    providers.set('stripe', await providerFromEnv(t, { ...stripe.env, PROVIDER_TIMEOUT_MS: '4000' }))
    const headers = freshKey()
    stripe.rateLimit.set({ perSecond: 0 })
    const first = await post('stripe', headers)
    t.match(first, { status: 502, error: { code: 'provider_unavailable' } })
    t.match(await post('stripe', headers), { status: 502, id: first.id }, 'the same payment again')
    t.same(await typesOf(first.id), ['PaymentInitiated', 'ProviderCallFailed'])
    stripe.rateLimit.set(null)
    t.match(await post('stripe', headers), { status: 201, id: first.id, data: { status: 'pending' } })
    t.same(await typesOf(first.id), ['PaymentInitiated', 'ProviderCallFailed', 'ProviderIntentCreated'])
  },
)

t.test("Stripe gets the payment id and none of the client's metadata [10.2-metadata]", async (t) => {
  const stripe = await startFakeStripe(t)
  providers.set('stripe', await providerFromEnv(t, stripe.env))
  const { id } = await post('stripe')
  const call = stripe.calls.at(-1)
  t.equal(call?.key, id)
  const sent = Object.entries(call?.params ?? {}).filter(([name]) => name.startsWith('metadata'))
  t.same(sent, [['metadata[payment_id]', id]])
  t.notMatch(JSON.stringify(call), /order-of-the-client|guest@/)
})
