// Attaching, reading and detaching methods at PayPal.
import t, { type Test } from 'tap'
import { customerMissing } from '../providerMethods.ts'
import { paypalHarness } from './testing/paypalHarness.ts'

const card = { card: { brand: 'VISA', last_digits: '1111', expiry: '2027-02', name: 'Pat Example' } }
const owner = 'guest:pat@example.com'
const wallet = { paypal: { email_address: 'pat@example.com', payer_id: 'QYR5Z8XDVJNXQ', usage_type: 'MERCHANT' } }

async function start(t: Test) {
  const { fake, paypal } = await paypalHarness(t)
  const requestFor = (source: typeof card | typeof wallet, provider_customer_id: string | null = null) => {
    const token = fake.vault.approveSetup(source)
    return { idempotency_key: 'm1', token, user_id: 'user-1', provider_customer_id }
  }
  return { fake, paypal, methods: paypal.methods, requestFor }
}

t.test('PayPal: the first attached method creates the customer with our user id', async (t) => {
  const { fake, methods, requestFor } = await start(t)
  const customer = { idempotency_key: 'u1', user_id: 'user-1', email: 'pat@example.com', name: 'Pat' }
  t.equal(await methods.createCustomer(customer), null)
  const request = requestFor(card)
  const attached = await methods.attachMethod(request)
  t.match(attached, {
    payment_type: 'card',
    wallet_type: null,
    card_brand: 'visa',
    last_four: '1111',
    expiry_month: '02',
    expiry_year: '2027',
    provider_customer_id: /^.+$/,
  })
  t.ok(fake.vault.tokens.has(attached.provider_method_id))
  const [call] = fake.callsTo(/vault/)
  t.match(call, { method: 'POST', path: '/v3/vault/payment-tokens', key: 'm1' })
  t.same(JSON.parse(call?.body ?? ''), {
    payment_source: { token: { id: request.token, type: 'SETUP_TOKEN' } },
    customer: { merchant_customer_id: 'user-1' },
  })
  t.same(await methods.attachMethod(request), attached, 'the same key returns the same method')
})

t.test('PayPal: another method is attached to the same customer', async (t) => {
  const { methods, requestFor } = await start(t)
  const attached = await methods.attachMethod(requestFor(wallet, 'customer_40293'))
  t.same(attached, {
    provider_method_id: attached.provider_method_id,
    payment_type: 'paypal',
    wallet_type: 'paypal',
    card_brand: null,
    last_four: null,
    expiry_month: null,
    expiry_year: null,
    provider_customer_id: 'customer_40293',
  })
})

t.test('PayPal: a user id in an unsupported format is left out', async (t) => {
  const { fake, methods } = await start(t)
  for (const user_id of ['pat example', 'x'.repeat(65), 'ü']) {
    const token = fake.vault.approveSetup(wallet)
    await methods.attachMethod({ idempotency_key: token, token, user_id, provider_customer_id: null })
  }
  for (const { body } of fake.callsTo(/vault/)) t.notOk('customer' in JSON.parse(body))
})

t.test('PayPal: attaching with a lost response saves one method', async (t) => {
  const { fake, methods, requestFor } = await start(t)
  fake.faults.next({ kind: 'drop', commits: true })
  await methods.attachMethod(requestFor(card))
  t.equal(fake.vault.tokens.size, 1)
})

t.test('PayPal: reading a token returns its method without saving it', async (t) => {
  const { fake, methods } = await start(t)
  const token = fake.vault.approveSetup({ apple_pay: { card: card.card } })
  t.same(await methods.readMethod({ token, owner }), {
    provider_method_id: token,
    payment_type: 'apple_pay',
    wallet_type: 'apple_pay',
    card_brand: 'visa',
    last_four: '1111',
    expiry_month: '02',
    expiry_year: '2027',
  })
  t.equal(fake.vault.tokens.size, 0)
})

t.test('PayPal: an unknown token of any characters is rejected', async (t) => {
  const { methods } = await start(t)
  const rejected = { name: 'ProviderError', kind: 'rejected' }
  for (const token of ['unknown', '../orders', 'a/b?c=d#e', 'ü', '"}'] as const) {
    await t.rejects(methods.readMethod({ token, owner }), rejected, token)
    const request = { idempotency_key: 'm1', token, user_id: 'user-1', provider_customer_id: null }
    await t.rejects(methods.attachMethod(request), { ...rejected, code: 'invalid_token_id' }, token)
  }
})

t.test('PayPal: deleting a customer deletes all its methods, and no other ones', async (t) => {
  const { fake, methods, requestFor } = await start(t)
  const attach = (key: string, provider_customer_id: string | null) =>
    methods.attachMethod({ ...requestFor(card, provider_customer_id), idempotency_key: key })
  const { provider_customer_id } = await attach('first', null)
  for (let another = 1; another <= 6; another++) await attach(`another ${another}`, provider_customer_id)
  const other = await attach('other', null)
  fake.faults.next({ kind: 'drop', commits: true })
  await methods.deleteCustomer(provider_customer_id)
  t.same([...fake.vault.tokens.keys()], [other.provider_method_id], 'more than a page, one with a lost response')
  await methods.deleteCustomer(provider_customer_id)
  fake.faults.always({ kind: 'status', status: 500, commits: false })
  await t.rejects(methods.deleteCustomer(other.provider_customer_id), { name: 'ProviderError', kind: 'unknown' })
  await t.rejects(methods.deleteCustomer('?'), { name: 'ProviderError', kind: 'rejected' })
})

t.test('PayPal: detaching deletes a method, and succeeds when it does not exist', async (t) => {
  const { fake, methods, requestFor } = await start(t)
  const { provider_method_id, provider_customer_id } = await methods.attachMethod(requestFor(card))
  await methods.detachMethod({ provider_method_id, provider_customer_id })
  t.equal(fake.vault.tokens.size, 0)
  await methods.detachMethod({ provider_method_id, provider_customer_id })
  fake.faults.next({ kind: 'drop', commits: true })
  await methods.detachMethod({ provider_method_id, provider_customer_id })
  fake.faults.always({ kind: 'status', status: 404, commits: false })
  const detached = methods.detachMethod({ provider_method_id, provider_customer_id })
  await t.rejects(detached, { name: 'ProviderError', kind: 'unknown' }, 'an HTML 404 is not from PayPal')
})

t.test(
  'PayPal: a saved method is read in its current state, and is null when the customer no longer has it',
  async (t) => {
    const { fake, methods, requestFor } = await start(t)
    const request = requestFor(card)
    const { provider_method_id, provider_customer_id } = await methods.attachMethod(request)
    const retrieve = async (id = provider_method_id, customer = provider_customer_id) =>
      methods.retrieveMethod?.({ provider_method_id: id, provider_customer_id: customer })
    fake.vault.change(provider_method_id, { card: { brand: 'VISA', last_digits: '0005', expiry: '2034-11' } })
    t.same(await retrieve(), {
      payment_type: 'card',
      wallet_type: null,
      card_brand: 'visa',
      last_four: '0005',
      expiry_month: '11',
      expiry_year: '2034',
    })
    t.equal(await retrieve(provider_method_id, 'another'), null, "another customer's")
    for (const id of ['unknown', '../setup-tokens', 'a/b?c=d#e']) {
      t.equal(await retrieve(id), null, id)
      t.equal(fake.calls.at(-1)?.path, `/v3/vault/payment-tokens/${encodeURIComponent(id)}`)
    }
    fake.vault.remove(provider_method_id)
    t.equal(await retrieve(), null, 'removed')
    fake.readFaults.always({ kind: 'status', status: 404, commits: false })
    await t.rejects(retrieve(), { name: 'ProviderError', kind: 'unknown' }, 'an HTML 404 is not from PayPal')
  },
)

t.test('PayPal: attaching to a lost customer reports customer_missing, and the token stays usable', async (t) => {
  const { fake, methods, requestFor } = await start(t)
  const request = requestFor(card, 'customer_40293')
  fake.vault.loseCustomer('customer_40293')
  const missing = { name: 'ProviderError', kind: 'rejected', code: customerMissing }
  await t.rejects(methods.attachMethod(request), missing)
  const attached = await methods.attachMethod({ ...request, provider_customer_id: null })
  t.not(attached.provider_customer_id, 'customer_40293')
  const keys = fake.callsTo(/payment-tokens/).map(({ key }) => key)
  t.same(keys, ['m1-customer_40293', 'm1'])
})
