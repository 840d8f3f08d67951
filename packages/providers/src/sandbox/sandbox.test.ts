import { hasCardNumber } from '@paylog/domain/cardNumber'
import t from 'tap'
import type { CatalogPrice, ProductCatalog } from '../productCatalog.ts'
import type { ProviderError } from '../provider.ts'
import type { ProviderMethods } from '../providerMethods.ts'
import { createRequest as intent } from '../testing/requests.ts'
import { signSandboxEvent } from './notifications.ts'
import { createSandbox } from './sandbox.ts'

const secret = 'sandbox-secret'
const now = new Date('2026-01-01T12:00:00.000Z')
const nowSeconds = now.getTime() / 1000
const sandbox = createSandbox({ webhookSecrets: [secret, 'next-secret'] })

const event = (type: string, object: object = {}, more: object = {}) =>
  JSON.stringify({
    id: 'evt_1',
    type,
    provider: 'sandbox',
    created: nowSeconds,
    data: {
      object: { id: 'sandbox_pi_1', amount: 2599, currency: 'eur', status: 'succeeded', customer: null, ...object },
    },
    ...more,
  })
async function receive(body: string | Buffer, header: string | string[] | undefined) {
  await sandbox.verifyNotification({ body: Buffer.from(body), headers: { 'sandbox-signature': header }, now })
  return sandbox.readNotification(Buffer.from(body))
}
const signed = (body: string, by = secret) => receive(body, signSandboxEvent(by, body, nowSeconds))

t.test('sandbox: the same idempotency key returns the same intent, another key another one', async (t) => {
  const first = await sandbox.createIntent(intent)
  t.same(await sandbox.createIntent(intent), first)
  t.not(
    (await sandbox.createIntent({ ...intent, idempotency_key: 'other' })).provider_intent_id,
    first.provider_intent_id,
  )
  t.ok(first.client_secret)
})

t.test('sandbox: an intent or a charge contains its payment’s id', async (t) => {
  const { payment_id } = intent
  const found = (provider_intent_id: string | null, provider_payment_id: string | null = null) =>
    sandbox.findPaymentId({ provider_intent_id, provider_payment_id })
  const { provider_intent_id } = await sandbox.createIntent({ ...intent, idempotency_key: `${payment_id}-2` })
  t.equal(await found(provider_intent_id), payment_id)
  t.equal(await found(`sandbox_pi_${payment_id}`), payment_id)
  for (const charge of [payment_id, `${payment_id}-12`]) t.equal(await found(null, `sandbox_ch_${charge}`), payment_id)
  for (const other of ['sandbox_pi_1', payment_id, `sandbox_pm_${payment_id}`, `sandbox_pi_${payment_id}x`, ''])
    t.equal(await found(other), null, other)
  t.equal(await found(null), null)
  const paid = await signed(event('payment_intent.succeeded', { id: provider_intent_id }))
  t.equal(paid.report && (await sandbox.findPaymentId(paid.report)), payment_id)
})

t.test('sandbox: pm_card_declined and pm_card_insufficientFunds are declined, each with its code', async (t) => {
  const codes = { pm_card_declined: 'card_declined', pm_card_insufficientFunds: 'insufficient_funds' }
  for (const [provider_method_id, code] of Object.entries(codes)) {
    const declined = { name: 'ProviderError', kind: 'declined', code } satisfies Partial<ProviderError>
    await t.rejects(sandbox.createIntent({ ...intent, provider_method_id }), declined)
  }
})

if (!sandbox.methods) throw new Error('The sandbox lacks methods')
const methods: ProviderMethods = sandbox.methods
const customerOf = async (user_id: string) =>
  methods.createCustomer({ idempotency_key: 'k', user_id, email: null, name: null })
async function attach(user_id: string, token: string) {
  const provider_customer_id = await customerOf(user_id)
  return methods.attachMethod({ idempotency_key: 'k', token, user_id, provider_customer_id })
}
const read = (owner: string, token: string) => methods.readMethod({ token, owner })

t.test(
  'sandbox: a test card is a different method for each owner, and always the same one for an owner [10.2-sandbox-cards]',
  async (t) => {
    const visa = { payment_type: 'card', wallet_type: null, card_brand: 'visa', last_four: '4242' }
    const details = { ...visa, expiry_month: '12', expiry_year: '2034' }
    const attached = await attach('u1', 'pm_card_visa')
    t.same(attached, {
      ...details,
      provider_method_id: attached.provider_method_id,
      provider_customer_id: await customerOf('u1'),
    })
    t.same(await attach('u1', 'pm_card_visa'), attached)
    const guests = await read('guest:a@example.com', 'pm_card_visa')
    t.same(guests, { ...details, provider_method_id: guests.provider_method_id })
    t.same(await read('guest:a@example.com', 'pm_card_visa'), guests)
    const all = [
      attached,
      guests,
      await attach('u1', 'pm_card_amex'),
      await attach('u2', 'pm_card_visa'),
      await read('guest:a@example.com', 'pm_card_mastercard'),
      await read('guest:b@example.com', 'pm_card_visa'),
      await read(attached.provider_customer_id, 'pm_card_visa'),
    ]
    t.equal(new Set(all.map(({ provider_method_id }) => provider_method_id)).size, all.length)
    t.not(await customerOf('u1'), await customerOf('u2'))
    t.match(await attach('u1', 'pm_card_mastercard'), { card_brand: 'mastercard', last_four: '4444' })
    t.match(await attach('u1', 'pm_card_amex'), { card_brand: 'amex', last_four: '8431' })
  },
)

t.test('sandbox: ids contain UUIDs, so that none looks like a card number', async (t) => {
  const { provider_method_id, provider_customer_id } = await attach('u1', 'pm_card_visa')
  const guests = await read('guest:a@example.com', 'pm_card_visa')
  const uuid = /^sandbox_(pm|cus)_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  for (const id of [provider_method_id, provider_customer_id, guests.provider_method_id]) t.match(id, uuid)
  const onlyDigits = provider_method_id.replace(/[0-9a-f]{8}-.*/, '42424242-4242-4242-4242-424242424242')
  t.notOk(hasCardNumber(onlyDigits))
})

t.test('sandbox: unknown and declined cards are not saved', async (t) => {
  const declined = { name: 'ProviderError', kind: 'declined' }
  await t.rejects(attach('u1', 'pm_card_declined'), declined)
  await t.rejects(read('guest:a@example.com', 'pm_card_declined'), declined)
  const { provider_method_id } = await attach('u1', 'pm_card_visa')
  for (const token of ['', 'pm_card_discover', 'pm_card_approval', 'tok_visa', 'constructor', provider_method_id]) {
    const rejected = { name: 'ProviderError', kind: 'rejected' }
    await t.rejects(attach('u2', token), rejected, token)
    await t.rejects(read('guest:a@example.com', token), rejected, token)
  }
  const customerless = { idempotency_key: 'k', token: 'pm_card_visa', user_id: 'u1', provider_customer_id: null }
  await t.rejects(methods.attachMethod(customerless), /attached to a customer/)
})

t.test('sandbox: a saved method can be used and detached, but not retrieved', async (t) => {
  const method = await attach('u1', 'pm_card_visa')
  const paid = await sandbox.createIntent({ ...intent, ...method })
  t.ok(paid.provider_intent_id)
  t.notOk(sandbox.isTestMethod(method.provider_method_id))
  const behaviours = ['declined', 'insufficientFunds', 'actionRequired', 'approval', 'refundFails', 'dispute']
  for (const name of ['visa', 'mastercard', 'amex', ...behaviours]) t.ok(sandbox.isTestMethod(`pm_card_${name}`), name)
  await methods.detachMethod(method)
  await methods.detachMethod(method)
  t.equal(methods.retrieveMethod, null)
})

t.test('sandbox: an event about a method has the method and its customer', async (t) => {
  const { provider_method_id, provider_customer_id } = await attach('u1', 'pm_card_visa')
  for (const type of ['payment_method.attached', 'payment_method.updated', 'payment_method.detached']) {
    const about = { id: provider_method_id, amount: null, currency: null, status: null, customer: provider_customer_id }
    t.match(await signed(event(type, about)), {
      generic_type: type,
      object_id: provider_method_id,
      customer_id: provider_customer_id,
      report: null,
    })
  }
})

t.test('sandbox: a signed payment event becomes report about its intent', async (t) => {
  const notification = await signed(event('payment_intent.succeeded'))
  t.match(notification, {
    provider_event_id: 'evt_1',
    provider_type: 'payment_intent.succeeded',
    generic_type: 'payment_intent.succeeded',
    occurred_at: now.toISOString(),
    currency: 'EUR',
    report: {
      about: 'status',
      status: 'succeeded',
      provider_intent_id: 'sandbox_pi_1',
      amount_cents: 2599,
      provider_payment_id: 'sandbox_ch_1',
    },
  })
  const failed = await signed(event('payment_intent.failed'))
  t.match(failed.report, { status: 'failed', failure_code: 'card_declined', provider_payment_id: null })
  const created = await signed(event('payment_intent.created'))
  t.match(created.report, { about: 'object', provider_intent_id: 'sandbox_pi_1' })
})

t.test('sandbox: events about other objects have no payment report', async (t) => {
  for (const type of ['subscription.created', 'customer.updated', 'something.new'])
    t.equal((await signed(event(type))).report, null, type)
})

t.test('sandbox: during a rotation both webhook secrets are valid', async (t) => {
  await signed(event('customer.created'), 'next-secret')
  await t.rejects(signed(event('customer.created'), 'old-secret'), { code: 'invalid_signature' })
})

t.test('sandbox: missing, old and wrong signatures are invalid_signature [10.2-sandbox-signature]', async (t) => {
  const body = event('payment_intent.succeeded')
  const header = signSandboxEvent(secret, body, nowSeconds)
  const invalidSignature = { code: 'invalid_signature' }
  await t.rejects(receive(body, undefined), invalidSignature, 'no header')
  await t.rejects(receive(`${body} `, header), invalidSignature, 'another body')
  await t.rejects(receive(body, signSandboxEvent(secret, body, nowSeconds - 301)), invalidSignature, 'too old')
})

t.test('sandbox: a signed body that is not an event is an invalid request', async (t) => {
  const malformed = { code: 'invalid_request' }
  await t.rejects(signed('not json'), malformed)
  await t.rejects(signed('[]'), malformed)
  await t.rejects(signed(event('payment_intent.succeeded', {}, { id: 'a\u0000b' })), malformed, 'a control character')
  const invalid = Buffer.from([0x7b, 0xff, 0x7d])
  await t.rejects(receive(invalid, signSandboxEvent(secret, invalid, nowSeconds)), malformed, 'not UTF-8')
})

if (!sandbox.catalog) throw new Error('The sandbox lacks a catalogue')
const catalog: ProductCatalog = sandbox.catalog
const once: CatalogPrice = { amount_cents: 2599, currency: 'EUR', recurring: null }
const monthly: CatalogPrice = { ...once, recurring: { interval: 'month', trial_days: 14 } }
const product = {
  product_id: '018f0000-0000-7000-8000-00000000000a',
  name: 'Course',
  description: null,
  product_type: 'digital',
} as const
const put = (price: CatalogPrice, product_id: string = product.product_id) =>
  catalog.putProduct({
    idempotency_key: `${Math.random()}`,
    product: { ...product, product_id, price },
    price: 'put',
    known: null,
  })

t.test('sandbox: product and price ids depend on the product and its price, not on the key', async (t) => {
  const known = await put(once)
  t.same(await put(once), known)
  t.match(known, { provider_product_id: `sandbox_prod_${product.product_id}`, kept_fields: [] })
  const terms: readonly CatalogPrice[] = [
    once,
    { ...once, amount_cents: 2600 },
    { ...once, currency: 'USD' },
    monthly,
    { ...monthly, recurring: { interval: 'year', trial_days: 14 } },
    { ...monthly, recurring: { interval: 'month', trial_days: 0 } },
  ]
  const priced = await Promise.all(terms.map((price) => put(price)))
  t.equal(new Set(priced.map(({ provider_price_id }) => provider_price_id)).size, terms.length)
  t.not((await put(once, product.product_id.replace(/a$/, 'b'))).provider_price_id, known.provider_price_id)
  const kept = { idempotency_key: 'k', product: { ...product, price: monthly }, price: 'keep', known } as const
  t.same(await catalog.putProduct(kept), known)
  t.ok(catalog.keepsPrice({ ...product, price: once }))
  t.doesNotThrow(() => catalog.checkProduct({ ...product, price: once }))
})

t.test('sandbox: no price id looks like a card number', async (t) => {
  for (let amount_cents = 0; amount_cents < 5_000; amount_cents++) {
    const { provider_price_id } = await put({ ...once, amount_cents })
    if (provider_price_id === null || hasCardNumber(provider_price_id)) t.fail(`${provider_price_id}`)
  }
})
