// Customers and saved methods at Stripe.
import type { FakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { customerMissing } from '../providerMethods.ts'
import { createRequest } from '../testing/requests.ts'
import { stripeResponding, withCustomer } from './testing/stripeHarness.ts'

const attachedTo = (fake: FakeStripe, id: string) =>
  fake.events.filter(
    ({ type, data }) => type === 'payment_method.attached' && 'id' in data.object && data.object.id === id,
  ).length

t.test('Stripe: creating a customer with the same key returns the same customer', async (t) => {
  const { fake, methods, person, provider_customer_id } = await withCustomer(t)
  t.same(fake.calls[0], {
    method: 'POST',
    path: '/v1/customers',
    key: 'customer',
    params: { email: 'user@example.com', name: 'User Example' },
  })
  t.equal(await methods.createCustomer(person), provider_customer_id)
  const anonymous = await methods.createCustomer({ ...person, idempotency_key: 'anonymous', email: null, name: null })
  t.same(fake.calls.at(-1)?.params, {})
  t.not(anonymous, provider_customer_id)
})

t.test('Stripe: attaching a method returns its details', async (t) => {
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

t.test('Stripe: attaching succeeds for a method that its setup intent attached already [4.4-save]', async (t) => {
  const { fake, stripe, methods, provider_customer_id } = await withCustomer(t)
  const prepared = await stripe.createSetupIntent({ idempotency_key: 'setup', provider_customer_id })
  const { id } = fake.addMethod()
  fake.confirmSetup(prepared.provider_setup_intent_id, id)
  const attach = { idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id }
  t.match(await methods.attachMethod(attach), { provider_method_id: id, provider_customer_id })
})

t.test("Stripe: attaching another customer's, a detached or an unknown method is rejected", async (t) => {
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
  await t.rejects(attach(id, null), /attached to a customer/)
})

t.test(
  'Stripe: attaching to a lost customer reports customer_missing, and works for a new customer with the same key',
  async (t) => {
    const { fake, methods, person, provider_customer_id } = await withCustomer(t)
    const { id } = fake.addMethod()
    const attach = { idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id }
    fake.deleteCustomer(provider_customer_id)
    const missing = { name: 'ProviderError', kind: 'rejected', code: customerMissing }
    await t.rejects(methods.attachMethod(attach), missing)
    await t.rejects(methods.attachMethod(attach), missing, 'again')
    const other = await methods.createCustomer({ ...person, idempotency_key: 'other' })
    t.match(await methods.attachMethod({ ...attach, provider_customer_id: other }), { provider_customer_id: other })
    t.equal(fake.method(id).customer, other)
  },
)

t.test('Stripe: a replayed attachment is rejected when the method was detached since', async (t) => {
  const { fake, methods, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod()
  const attach = { idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id }
  await methods.attachMethod(attach)
  fake.detachMethod(id)
  await t.rejects(methods.attachMethod(attach), { name: 'ProviderError', kind: 'rejected' })
  const test = { ...attach, idempotency_key: 'test', token: 'pm_card_visa' }
  const attached = await methods.attachMethod(test)
  t.same(await methods.attachMethod(test), attached, 'a test method gets a new id')
  t.equal(fake.methodsOf(provider_customer_id).length, 1)
})

t.test('Stripe: reading a token of an attached method is rejected like an unknown one', async (t) => {
  const { fake, methods, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod({ last4: '4444' })
  const read = () => methods.readMethod({ token: id, owner: 'guest:pat@example.com' })
  t.match(await read(), { provider_method_id: id, last_four: '4444' })
  await methods.attachMethod({ idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id })
  const reads = [read(), methods.readMethod({ token: 'pm_missing', owner: 'guest:pat@example.com' })]
  const errors = await Promise.all(reads.map((read) => read.catch(({ kind, message }) => ({ kind, message }))))
  const rejection = { kind: 'rejected', message: 'The provider rejected the request' }
  t.same(errors, [rejection, rejection], 'same error as for an unknown method')
})

t.test(
  'Stripe: a saved method is read in its current state, and is null when the customer no longer has it',
  async (t) => {
    const { fake, methods, person, provider_customer_id } = await withCustomer(t)
    const { id } = fake.addMethod({ exp_month: 3, exp_year: 2031 })
    await methods.attachMethod({ idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id })
    const retrieve = async (provider_method_id = id, customer = provider_customer_id) =>
      methods.retrieveMethod?.({ provider_method_id, provider_customer_id: customer })
    fake.changeCard(id, { last4: '0005', exp_year: 2034 })
    t.same(await retrieve(), {
      payment_type: 'card',
      wallet_type: null,
      card_brand: 'visa',
      last_four: '0005',
      expiry_month: '03',
      expiry_year: '2034',
    })
    const other = await methods.createCustomer({ ...person, idempotency_key: 'other' })
    t.equal(await retrieve(id, other ?? ''), null, "another customer's")
    t.equal(await retrieve('pm_missing'), null, 'unknown')
    t.equal(await retrieve(fake.addMethod().id), null, 'unattached')
    fake.detachMethod(id)
    t.equal(await retrieve(), null, 'detached')
    fake.readFaults.always({ kind: 'status', status: 500, commits: false })
    await t.rejects(retrieve(), { name: 'ProviderError', kind: 'unknown' }, 'an error is not null')
  },
)

t.test('Stripe: attaching is unknown when the response names another customer', async (t) => {
  const body = { id: 'pm_1', type: 'card', customer: 'cus_2' }
  const { stripe } = await stripeResponding(t, body)
  const attach = { idempotency_key: 'attach', token: 'pm_1', user_id: 'u1', provider_customer_id: 'cus_1' }
  await t.rejects(stripe.methods.attachMethod(attach), { name: 'ProviderError', kind: 'unknown' })
})

t.test('Stripe: a repeated token of the older card forms returns the same method', async (t) => {
  const { fake, methods, provider_customer_id } = await withCustomer(t)
  const token = fake.addToken({ brand: 'amex', last4: '8431' })
  const read = await methods.readMethod({ token, owner: 'guest:pat@example.com' })
  t.match(read, { payment_type: 'card', card_brand: 'amex', last_four: '8431', wallet_type: null })
  t.notOk(
    fake.events.some(({ type }) => type === 'payment_method.attached'),
    'read without saving',
  )
  const attach = { idempotency_key: 'one', token, user_id: 'u1', provider_customer_id }
  t.equal((await methods.attachMethod(attach)).provider_method_id, read.provider_method_id)
  t.equal(
    (await methods.attachMethod({ ...attach, idempotency_key: 'two' })).provider_method_id,
    read.provider_method_id,
  )
})

t.test('Stripe: missing details of a method are null', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  const nothing = { wallet_type: null, card_brand: null, last_four: null, expiry_month: null, expiry_year: null }
  respond({ id: 'pm_1', object: 'payment_method', type: 'paypal', customer: null, paypal: { payer_id: 'x' } })
  t.same(await stripe.methods.readMethod({ token: 'pm_1', owner: 'guest:pat@example.com' }), {
    ...nothing,
    provider_method_id: 'pm_1',
    payment_type: 'paypal',
  })
  respond({ id: 'pm_1', type: 'sepa_debit', sepa_debit: { last4: '3000' } })
  t.match(await stripe.methods.readMethod({ token: 'pm_1', owner: 'guest:pat@example.com' }), {
    ...nothing,
    payment_type: 'sepa_debit',
    last_four: '3000',
  })
  for (const broken of [{ id: 'pm_1' }, { id: 'pm_1', type: 'card', card: { exp_month: 13 } }, []]) {
    respond(broken)
    await t.rejects(
      stripe.methods.readMethod({ token: 'pm_1', owner: 'guest:pat@example.com' }),
      { name: 'ProviderError', kind: 'unknown' },
      JSON.stringify(broken),
    )
  }
})

t.test('Stripe: detaching succeeds for a method that is not attached or unknown', async (t) => {
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
  fake.failNext({ status: 400, error: { type: 'invalid_request_error', message: 'No, for another reason' } })
  await t.rejects(detach(kept), { name: 'ProviderError', kind: 'rejected' }, 'rejected, and still attached')
  for (const commits of [false, true]) {
    const { id: broken } = fake.addMethod()
    await methods.attachMethod({ idempotency_key: broken, token: broken, user_id: 'u1', provider_customer_id })
    fake.failInside({ commits })
    await detach(broken)
    t.equal(fake.method(broken).customer, null, 'a Stripe error is not stored under a key')
  }
})

t.test('Stripe: deleting a customer deletes it, and succeeds when it does not exist', async (t) => {
  const { fake, methods, person, provider_customer_id } = await withCustomer(t)
  await methods.deleteCustomer(provider_customer_id)
  t.notOk(fake.hasCustomer(provider_customer_id))
  t.match(fake.calls.at(-1), { method: 'DELETE', path: `/v1/customers/${provider_customer_id}`, key: null })
  await methods.deleteCustomer(provider_customer_id)
  await methods.deleteCustomer('cus_missing')
  t.equal(fake.events.filter(({ type }) => type === 'customer.deleted').length, 1)

  const lost = (await methods.createCustomer({ ...person, idempotency_key: 'lost' })) ?? ''
  fake.faults.next({ kind: 'drop', commits: true })
  await methods.deleteCustomer(lost)
  t.notOk(fake.hasCustomer(lost), 'after a lost response')

  const kept = (await methods.createCustomer({ ...person, idempotency_key: 'kept' })) ?? ''
  fake.failNext({ status: 403, error: { type: 'invalid_request_error', message: 'The key lacks a permission' } })
  await t.rejects(methods.deleteCustomer(kept), { name: 'ProviderError', kind: 'unavailable' })
  fake.faults.always({ kind: 'garbage', commits: false })
  await t.rejects(methods.deleteCustomer(kept), { name: 'ProviderError', kind: 'unknown' })
  t.ok(fake.hasCustomer(kept))
})

t.test('Stripe: an intent for a saved method has the method and its customer', async (t) => {
  const { fake, stripe, methods, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod()
  await methods.attachMethod({ idempotency_key: 'attach', token: id, user_id: 'u1', provider_customer_id })
  const saved = { ...createRequest, provider_method_id: id, provider_customer_id }
  const { provider_intent_id } = await stripe.createIntent(saved)
  t.match(fake.intent(provider_intent_id), { customer: provider_customer_id, payment_method: id })
  const alone = { ...createRequest, idempotency_key: 'alone', provider_customer_id }
  const { provider_intent_id: other } = await stripe.createIntent(alone)
  t.match(fake.intent(other), { customer: null, payment_method: null })
  fake.detachMethod(id)
  const gone = stripe.createIntent({ ...saved, idempotency_key: 'gone' })
  await t.rejects(gone, { name: 'ProviderError', kind: 'rejected' })
})
