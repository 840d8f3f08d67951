// Customers, saved methods and setup intents at Stripe.
import type { FakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { stripeAt, stripeBeside, stripeUnderTest } from './stripeUnderTest.ts'

async function withCustomer(t: Parameters<typeof stripeUnderTest>[0]) {
  const { fake, stripe } = await stripeUnderTest(t)
  const { methods } = stripe
  const person = { idempotency_key: 'customer', user_id: 'u1', email: 'user@example.com', name: 'User Example' }
  const provider_customer_id = await methods.createCustomer(person)
  if (provider_customer_id === null) throw new Error('Stripe has customers')
  return { fake, stripe, methods, person, provider_customer_id }
}

const attachedTo = (fake: FakeStripe, id: string) =>
  fake.events.filter(
    ({ type, data }) => type === 'payment_method.attached' && 'id' in data.object && data.object.id === id,
  ).length

t.test('the same user is one customer, by the key', async (t) => {
  const { fake, methods, person, provider_customer_id } = await withCustomer(t)
  t.same(fake.calls[0], {
    method: 'POST',
    path: '/v1/customers',
    key: 'customer',
    params: { email: 'user@example.com', name: 'User Example' },
  })
  t.equal(await methods.createCustomer(person), provider_customer_id)
  const nobody = await methods.createCustomer({ ...person, idempotency_key: 'nobody', email: null, name: null })
  t.same(fake.calls.at(-1)?.params, {})
  t.not(nobody, provider_customer_id)
})

t.test('attaches a method and tells what it is', async (t) => {
  const { fake, methods, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod({
    brand: 'mastercard',
    last4: '4444',
    exp_month: 3,
    exp_year: 2031,
    wallet: 'google_pay',
  })
  const attach = { idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id }
  const attached = {
    provider_method_id: id,
    provider_customer_id,
    payment_type: 'card',
    wallet_type: 'google_pay',
    card_brand: 'mastercard',
    last_four: '4444',
    expiry_month: '03',
    expiry_year: '2031',
  }
  t.same(await methods.attachMethod(attach), attached)
  t.same(await methods.attachMethod(attach), attached, 'again with the same key')
  t.same(await methods.attachMethod({ ...attach, idempotency_key: 'other' }), attached, 'again with another key')
  t.equal(attachedTo(fake, id), 1)
})

t.test('a method that its setup intent has attached already is attached', async (t) => {
  const { fake, stripe, methods, provider_customer_id } = await withCustomer(t)
  const prepared = await stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id })
  const { id } = fake.addMethod()
  fake.confirmSetup(prepared.provider_setup_intent_id, id)
  const attach = { idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id }
  t.match(await methods.attachMethod(attach), { provider_method_id: id, provider_customer_id })
})

t.test("another customer's method, one that was detached, and one that there is not are refused", async (t) => {
  const { fake, methods, person, provider_customer_id } = await withCustomer(t)
  const attach = (token: string, customer: string | null = provider_customer_id) =>
    methods.attachMethod({
      idempotency_key: `${token} ${customer}`,
      token,
      user_id: 'u1',
      provider_customer_id: customer,
    })
  const { id } = fake.addMethod()
  await attach(id)
  const other = await methods.createCustomer({ ...person, idempotency_key: 'other' })
  await t.rejects(attach(id, other), { name: 'ProviderError', kind: 'rejected' })
  await methods.detachMethod({ provider_method_id: id, provider_customer_id })
  await t.rejects(attach(id, other), { name: 'ProviderError', kind: 'rejected' })
  await t.rejects(attach('pm_missing'), { name: 'ProviderError', kind: 'rejected', code: 'resource_missing' })
  await t.rejects(attach(fake.addMethod().id, 'cus_missing'), {
    name: 'ProviderError',
    kind: 'rejected',
    code: 'resource_missing',
  })
  await t.rejects(attach(id, null), /attached to a customer/)
})

t.test('an answer that attaches to somebody else is none', async (t) => {
  const answer = { id: 'pm_1', type: 'card', customer: 'cus_2' }
  const stripe = await stripeBeside(t, (_request, response) => void response.end(JSON.stringify(answer)), {
    timeoutMs: 300,
  })
  const attach = { idempotency_key: 'attach', token: 'pm_1', user_id: 'u1', provider_customer_id: 'cus_1' }
  await t.rejects(stripe.methods.attachMethod(attach), { name: 'ProviderError', kind: 'unknown' })
})

t.test('a token of the older forms becomes one method, however often it comes', async (t) => {
  const { fake, methods, provider_customer_id } = await withCustomer(t)
  const token = fake.addToken({ brand: 'amex', last4: '8431' })
  const read = await methods.readMethod(token)
  t.match(read, { payment_type: 'card', card_brand: 'amex', last_four: '8431', wallet_type: null })
  t.notOk(
    fake.events.some(({ type }) => type === 'payment_method.attached'),
    'read, and not kept',
  )
  const attach = { idempotency_key: 'one', token, user_id: 'u1', provider_customer_id }
  t.equal((await methods.attachMethod(attach)).provider_method_id, read.provider_method_id)
  t.equal(
    (await methods.attachMethod({ ...attach, idempotency_key: 'two' })).provider_method_id,
    read.provider_method_id,
  )
})

t.test('what Stripe does not tell of a method is not made up', async (t) => {
  let method: object = {}
  const stripe = await stripeBeside(t, (_request, response) => void response.end(JSON.stringify(method)), {
    timeoutMs: 300,
  })
  const nothing = { wallet_type: null, card_brand: null, last_four: null, expiry_month: null, expiry_year: null }
  method = { id: 'pm_1', object: 'payment_method', type: 'paypal', customer: null, paypal: { payer_id: 'x' } }
  t.same(await stripe.methods.readMethod('pm_1'), { ...nothing, provider_method_id: 'pm_1', payment_type: 'paypal' })
  method = { id: 'pm_1', type: 'sepa_debit', sepa_debit: { last4: '3000' } }
  t.match(await stripe.methods.readMethod('pm_1'), { ...nothing, payment_type: 'sepa_debit', last_four: '3000' })
  for (const broken of [{ id: 'pm_1' }, { id: 'pm_1', type: 'card', card: { exp_month: 13 } }, []]) {
    method = broken
    await t.rejects(
      stripe.methods.readMethod('pm_1'),
      { name: 'ProviderError', kind: 'unknown' },
      JSON.stringify(broken),
    )
  }
})

t.test('a method that is not there counts as detached', async (t) => {
  const { fake, methods, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod()
  await methods.attachMethod({ idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id })
  const detach = (provider_method_id: string) => methods.detachMethod({ provider_method_id, provider_customer_id })
  await detach(id)
  await detach(id)
  t.equal(fake.events.filter(({ type }) => type === 'payment_method.detached').length, 1)
  await t.resolves(detach(fake.addMethod().id), 'never attached')
  await t.resolves(detach('pm_missing'), 'unknown')
  const { id: kept } = fake.addMethod()
  await methods.attachMethod({ idempotency_key: 'kept', token: kept, user_id: 'u1', provider_customer_id })
  fake.refuseNext({ status: 400, error: { type: 'invalid_request_error', message: 'No, for another reason' } })
  await t.rejects(detach(kept), { name: 'ProviderError', kind: 'rejected' }, 'refused, and still attached')
  fake.refuseNext({ status: 429, error: { type: 'invalid_request_error', message: 'Slow down' } })
  const asked = fake.calls.length
  await t.rejects(detach(kept), { name: 'ProviderError', kind: 'unavailable' }, 'too many requests')
  t.equal(fake.calls.length, asked + 1, 'and no more of them')
  fake.shut()
  const anew = stripeAt(t, fake.origin).methods.detachMethod({ provider_method_id: kept, provider_customer_id })
  await t.rejects(anew, { name: 'ProviderError', kind: 'unavailable' }, 'nobody there')
})

t.test('prepares to save a method, for the customer if there is one', async (t) => {
  const { fake, stripe, provider_customer_id } = await withCustomer(t)
  const prepared = await stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id })
  t.match(prepared, { provider_setup_intent_id: /^seti_/, client_secret: /_secret_/ })
  t.same(fake.calls.at(-1), {
    method: 'POST',
    path: '/v1/setup_intents',
    key: `setup-${provider_customer_id}`,
    params: {
      usage: 'off_session',
      'automatic_payment_methods[enabled]': 'true',
      'automatic_payment_methods[allow_redirects]': 'never',
      customer: provider_customer_id,
    },
  })
  await stripe.createSetupIntent({ idempotency_key: 'nobody', provider_customer_id: null })
  t.notOk('customer' in (fake.calls.at(-1)?.params ?? {}))
})

t.test('a customer that Stripe does not know any more is left out', async (t) => {
  const { fake, stripe, provider_customer_id } = await withCustomer(t)
  fake.deleteCustomer(provider_customer_id)
  const request = { idempotency_key: 'setup', provider_customer_id }
  const prepared = await stripe.createSetupIntent(request)
  t.same(
    fake.calls.slice(-2).map(({ key, params }) => [key, params.customer]),
    [
      [`setup-${provider_customer_id}`, provider_customer_id],
      ['setup', undefined],
    ],
  )
  t.same(await stripe.createSetupIntent(request), prepared, 'and the same key gives the same setup intent')
})

t.test('a request whose first answer was lost is not refused because the user has a customer since', async (t) => {
  const { fake, stripe, provider_customer_id } = await withCustomer(t)
  fake.faults.next({ kind: 'drop', commits: true }, { kind: 'drop', commits: true }, { kind: 'drop', commits: true })
  await t.rejects(stripe.createSetupIntent({ idempotency_key: 'lost', provider_customer_id: null }), {
    name: 'ProviderError',
    kind: 'unknown',
  })
  const prepared = await stripe.createSetupIntent({ idempotency_key: 'lost', provider_customer_id })
  t.match(prepared.provider_setup_intent_id, /^seti_/)
})

t.test('a setup intent that lacks something else is refused', async (t) => {
  let asked = 0
  const error = { type: 'invalid_request_error', code: 'resource_missing', param: 'payment_method_configuration' }
  const stripe = await stripeBeside(t, (_request, response) => {
    asked++
    response.writeHead(400).end(JSON.stringify({ error }))
  })
  const created = stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id: 'cus_1' })
  await t.rejects(created, { name: 'ProviderError', kind: 'rejected' })
  t.equal(asked, 1)
})

t.test('a setup intent without a secret is none', async (t) => {
  const stripe = await stripeBeside(
    t,
    (_request, response) => void response.end('{"id":"seti_1","client_secret":null}'),
    {
      timeoutMs: 300,
    },
  )
  const created = stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id: null })
  await t.rejects(created, { name: 'ProviderError', kind: 'unknown' })
})
