// POST /payment-methods: recorded data, responses and errors.
import { PaymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { ada, adaId, grace, guest, guestEmail, type Headers } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'

const fake = await startFakeStripe(t)
const stripe = await providerFromEnv(t, fake.env)
const api = await methodsHarness(t, [stripe, createSandbox({ webhookSecrets: ['secret'] })])
const { app, save, remove, providers, recordsNothing, eventsOf, typesOf, stateOf } = api
t.beforeEach(() => void providers.set('stripe', stripe))

function bodyOf(more: object = {}) {
  const { id: payment_method_token } = fake.addMethod({ brand: 'visa', last4: '4242', exp_month: 8, exp_year: 2034 })
  return { payment_method_token, provider_id: 'stripe', ...more }
}
async function addressOf(headers: Headers): Promise<string> {
  const payload = { address_type: 'billing', line1: '1 Sample Street', city: 'Berlin', country: 'DE' }
  return (await app.inject({ method: 'POST', url: '/addresses', headers, payload })).json().data.id
}

t.test(
  "a saved method has all of the client's fields and the provider's details [2.3-fields 2.7-method-values]",
  async (t) => {
    const billing_address_id = await addressOf(ada)
    const content = {
      type: 'card',
      organization_id: 'org-1',
      alias: 'Everyday card',
      billing_details: {
        name: 'Ada Example',
        email: 'ada@example.com',
        phone: '+49 30 000000',
        address: { line1: '1 Sample Street', city: 'Berlin', postal_code: '10115', country: 'DE' },
      },
    }
    const { status, data, id, headers, etag } = await save(
      bodyOf({
        ...content,
        wallet_type: 'apple_pay',
        customer_id: 'cus_of_somebody',
        billing_address_id: billing_address_id.toUpperCase(),
      }),
    )
    t.equal(status, 201)
    const { id: _, customer_id, created_at, updated_at, ...rest } = data ?? {}
    t.same(rest, {
      payment_type: 'card',
      wallet_type: 'apple_pay',
      card_brand: 'visa',
      last_four: '4242',
      expiry_month: '08',
      expiry_year: '2034',
      alias: 'Everyday card',
      type: 'card',
      provider_id: 'stripe',
      organization_id: 'org-1',
      billing_address_id,
      billing_details: {
        ...content.billing_details,
        address: { ...content.billing_details.address, line2: null, state: null },
      },
      is_default: false,
      guest_email: null,
    })
    t.same(Object.keys(data ?? {}).toSorted(), Object.keys(PaymentMethodResource.properties).toSorted())
    t.match(customer_id, /^cus_/)
    t.not(customer_id, 'cus_of_somebody')
    t.match(created_at, /Z$/)
    t.equal(updated_at, created_at)
    const [added, ...more] = await eventsOf(id)
    t.same(more, [])
    t.match(added, { type: 'PaymentMethodAdded', data: { user_id: adaId }, metadata: { actor: `session:${adaId}` } })
    t.equal(etag, '"0"')
    t.equal(headers['x-event-position'], String(added?.position.commit))
  },
)

t.test('omitted method fields are null', async (t) => {
  const { status, data } = await save({ ...bodyOf(), alias: null, billing_details: { email: null, address: null } })
  t.equal(status, 201)
  const nobody = { name: null, email: null, phone: null, address: null }
  t.match(data, { wallet_type: null, type: null, alias: null, organization_id: null, billing_address_id: null })
  t.same(data?.billing_details, nobody)
  t.equal((await save(bodyOf())).data?.billing_details, null)
})

t.test("the provider's wallet type overrides the client's [2.2-wallet]", async (t) => {
  const payment_method_token = fake.addMethod({ wallet: 'google_pay' }).id
  const { data } = await save({ payment_method_token, provider_id: 'stripe', wallet_type: 'apple_pay' })
  t.equal(data?.wallet_type, 'google_pay')
})

t.test('a method saved again by its owner is returned without a provider call [4.12-method-201]', async (t) => {
  const body = bodyOf({ alias: 'First' })
  const first = await save(body)
  const calls = fake.calls.length
  const again = await recordsNothing(t, () => save({ ...body, alias: 'Second' }))
  t.equal(again.status, 200)
  t.same(again.data, first.data)
  t.equal(again.etag, first.etag)
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  t.equal(fake.calls.length, calls)
})

t.test(
  "saving another owner's method is 422 without any of its data or a provider call [10.3-foreign-method]",
  async (t) => {
    const body = bodyOf({ alias: 'Secret words' })
    const { id } = await save(body)
    const calls = fake.calls.length
    for (const headers of [grace, guest]) {
      const rejected = await recordsNothing(t, () => save(body, headers))
      t.same([rejected.status, rejected.code], [422, 'reference_not_found'])
      t.same(rejected.error?.details, { field: 'payment_method_token' })
      t.notMatch(rejected.text, new RegExp(`Secret words|${id}|"4242"`))
    }
    t.equal(fake.calls.length, calls)
  },
)

t.test('a removed method can be saved again by its owner [10.3-added-again]', async (t) => {
  const at = { payment_method_token: 'pm_card_amex', provider_id: 'sandbox' }
  const first = await save(at)
  t.equal((await remove(first.id)).status, 200)
  const again = await save({ ...at, alias: 'Again' })
  t.equal(again.status, 201)
  t.equal(again.id, first.id)
  t.match(again.data, { alias: 'Again', is_default: false })
  t.same(await typesOf(paymentMethodStream(first.id)), [
    'PaymentMethodAdded',
    'PaymentMethodRemoved',
    'PaymentMethodAdded',
  ])
  const body = bodyOf()
  await remove((await save(body)).id)
  t.match(await save(body), { status: 422, code: 'provider_rejected' })
})

t.test("a guest's method is read without attaching it, and is separate from a user's [4.5-guest]", async (t) => {
  const before = fake.calls.length
  const body = bodyOf()
  const { status, data, id } = await save(body, guest)
  t.equal(status, 201)
  t.match(data, { guest_email: guestEmail, customer_id: null, card_brand: 'visa', last_four: '4242' })
  t.match(await stateOf(id), { user_id: null, provider_customer_id: null })
  t.notOk(fake.calls.slice(before).some(({ method }) => method === 'POST'))
  t.equal((await recordsNothing(t, () => save(body, guest))).status, 200)

  const own = { payment_method_token: 'pm_card_visa', provider_id: 'sandbox' }
  const ids = await Promise.all([save(own, guest), save(own), save(own, grace)])
  t.same(
    ids.map(({ status }) => status),
    [201, 201, 201],
  )
  t.equal(new Set(ids.map(({ id }) => id)).size, 3)
})

t.test('a guest cannot save a method that is attached to a customer', async (t) => {
  const attached = fake.addMethod()
  attached.customer = 'cus_of_somebody'
  const rejected = await recordsNothing(t, () =>
    save({ payment_method_token: attached.id, provider_id: 'stripe' }, guest),
  )
  t.same([rejected.status, rejected.code], [422, 'provider_rejected'])
})

t.test("the provider customer is created with the user's e-mail and recorded once", async (t) => {
  await save(bodyOf(), { 'x-session-id': 'demo-admin-session' })
  const made = fake.calls.filter(({ path, params }) => path === '/v1/customers' && params.email === 'admin@example.com')
  t.equal(made.length, 1)
  const admin = '00000000-0000-4000-8000-000000000003'
  t.same(await typesOf(providerCustomerStream('stripe', admin)), ['ProviderCustomerLinked'])
})

t.test('a malformed method body is 400, and nothing is recorded [2.3-validation]', async (t) => {
  const long = 'x'.repeat(256)
  const bad: readonly (readonly [string, unknown])[] = [
    ['no token', { provider_id: 'stripe' }],
    ['an empty token', bodyOf({ payment_method_token: '' })],
    ['a token that is null', bodyOf({ payment_method_token: null })],
    ['a token that is too long', bodyOf({ payment_method_token: 'x'.repeat(8_001) })],
    ['is_default as text', bodyOf({ is_default: 'true' })],
    ...['type', 'wallet_type', 'customer_id', 'organization_id', 'alias', 'billing_address_id'].flatMap(
      (field): (readonly [string, unknown])[] => [
        [`${field} as a number`, bodyOf({ [field]: 1 })],
        [`${field} that is too long`, bodyOf({ [field]: long })],
      ],
    ),
    ['an e-mail that is none', bodyOf({ billing_details: { email: 'ada' } })],
    ['billing details as text', bodyOf({ billing_details: 'Ada' })],
    ['no provider among several', { payment_method_token: 'pm_card_visa' }],
  ]
  for (const [name, body] of bad) {
    const rejected = await recordsNothing(t, () => save(body), name)
    t.same([rejected.status, rejected.code], [400, 'invalid_request'], name)
  }
  const longest = await save({ payment_method_token: 'x'.repeat(8_000), provider_id: 'sandbox' })
  t.same([longest.status, longest.code], [422, 'provider_rejected'], 'only the provider rejects it')
})

t.test('a provider that is disabled or has no methods is 422 with the alternatives', async (t) => {
  providers.set('stripe', { ...stripe, methods: null })
  const rejected = await recordsNothing(t, () => save(bodyOf()))
  t.same(
    [rejected.status, rejected.code, rejected.error?.details],
    [422, 'provider_not_enabled', { enabled: ['sandbox'] }],
  )
  for (const provider_id of ['paypal', 'nobody', '__proto__'])
    t.match(await recordsNothing(t, () => save(bodyOf({ provider_id }))), { status: 422, code: 'provider_not_enabled' })
})

t.test("an unknown, removed or another owner's billing address is 422 [10.1-foreign-address]", async (t) => {
  const own = await addressOf(ada)
  const removed = await addressOf(ada)
  await app.inject({ method: 'DELETE', url: `/addresses/${removed}`, headers: ada })
  const foreign = [await addressOf(grace), await addressOf(guest)]
  const missing = ['00000000-0000-4000-8000-00000000dead', 'no id', 'ü', '']
  const calls = fake.calls.length
  const errors = new Set<string>()
  for (const billing_address_id of [removed, ...foreign, ...missing]) {
    const rejected = await recordsNothing(t, () => save(bodyOf({ billing_address_id })))
    t.same([rejected.status, rejected.code], [422, 'reference_not_found'], billing_address_id)
    t.same(rejected.error?.details, { field: 'billing_address_id' })
    errors.add(rejected.error?.message ?? '')
  }
  t.equal(errors.size, 1, 'the same message')
  t.equal(fake.calls.length, calls)
  t.equal((await save(bodyOf({ billing_address_id: own }))).status, 201)
  t.equal((await save(bodyOf({ billing_address_id: await addressOf(guest) }), guest)).status, 201)
})

t.test('a method that the provider rejects is reported with its code, and nothing is recorded', async (t) => {
  await save(bodyOf())
  const error = { message: 'Words of Stripe', type: 'invalid_request_error' } as const
  const card = { message: 'Words of Stripe', type: 'card_error', code: 'card_declined' } as const
  for (const [status, body, expected, code] of [
    [402, card, 402, 'payment_declined'],
    [400, error, 422, 'provider_rejected'],
    [401, error, 502, 'provider_unavailable'],
  ] as const) {
    fake.failNext({ status, error: body })
    const rejected = await recordsNothing(t, () => save(bodyOf()), code)
    t.same([rejected.status, rejected.code], [expected, code])
    t.notMatch(rejected.text, /Words/)
  }
  fake.rateLimit.set({ perSecond: 0 })
  t.match(await recordsNothing(t, () => save(bodyOf())), { status: 502, code: 'provider_unavailable' }, 'throttled')
  fake.rateLimit.set(null)
  fake.faults.always({ kind: 'drop', commits: false })
  t.match(await recordsNothing(t, () => save(bodyOf())), { status: 504, code: 'provider_outcome_unknown' })
  fake.faults.always(undefined)
  t.match(await recordsNothing(t, () => save({ payment_method_token: 'pm_card_declined', provider_id: 'sandbox' })), {
    status: 402,
    code: 'payment_declined',
  })
})
