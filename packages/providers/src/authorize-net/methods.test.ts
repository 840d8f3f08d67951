// Authorize.Net's customers and saved methods.
import t, { type Test } from 'tap'
import type { ProviderError } from '../provider.ts'
import { customerMissing } from '../providerMethods.ts'
import { authorizeNetHarness } from './testing/authorizeNetHarness.ts'

const card = { card: 'made-up-card-0015', expirationDate: '2031-08', cardType: 'MasterCard' }
const lost = { name: 'ProviderError', kind: 'unknown' } satisfies Partial<ProviderError>
const owner = { idempotency_key: 'k', user_id: 'user-1', email: 'ada@example.com', name: 'Ada' }

async function start(t: Test, options: { timeoutMs?: number } = {}) {
  const { fake, provider } = await authorizeNetHarness(t, options)
  const { methods } = provider
  const attach = (provider_customer_id: string | null, token = fake.profiles.tokenise(card)) =>
    methods.attachMethod({ idempotency_key: 'k', token, user_id: 'user-1', provider_customer_id })
  const customer = async () => {
    const id = await methods.createCustomer(owner)
    if (id === null) throw new Error('no customer')
    return id
  }
  return { fake, provider, methods, attach, customer }
}

t.test('Authorize.Net: a customer is created with an id of at most 20 characters, e-mail and name', async (t) => {
  const { fake, methods } = await start(t)
  await methods.createCustomer({ ...owner, user_id: `user-${'1'.repeat(200)}` })
  await methods.createCustomer({ ...owner, email: null, name: null })
  const profiles = fake.calls.map(({ request }) => request.profile)
  t.match(profiles[0], { merchantCustomerId: /^[0-9a-f]{20}$/, description: 'Ada', email: 'ada@example.com' })
  t.same(Object.keys(Object(profiles[1])), ['merchantCustomerId'])
})

t.test('Authorize.Net: a customer is created once, even when the response is lost', async (t) => {
  const { fake, methods, customer } = await start(t)
  const first = await customer()
  t.equal(await customer(), first)
  fake.faults.next({ kind: 'drop', commits: true })
  const other = await methods.createCustomer({ ...owner, user_id: 'user-2' })
  t.ok(other)
  t.equal(await methods.createCustomer({ ...owner, user_id: 'user-2' }), other)
  t.equal(fake.profiles.customers.size, 2)
})

t.test('Authorize.Net: a duplicate customer whose id the error omits is rejected', async (t) => {
  const { fake, methods } = await start(t)
  fake.failNext('E00039', { text: 'A duplicate record already exists.' })
  await t.rejects(methods.createCustomer(owner), { kind: 'rejected', code: 'E00039' })
})

t.test('Authorize.Net: an attached method is saved and read back', async (t) => {
  const { fake, attach, customer } = await start(t)
  const provider_customer_id = await customer()
  const attached = await attach(provider_customer_id)
  t.match(attached, {
    provider_customer_id,
    provider_method_id: /^\d+$/,
    payment_type: 'card',
    wallet_type: null,
    card_brand: 'MasterCard',
    last_four: '0015',
    expiry_month: '08',
    expiry_year: '2031',
  })
  t.match(fake.calls.find(({ method }) => method === 'createCustomerPaymentProfile')?.request, {
    paymentProfile: { payment: { opaqueData: { dataDescriptor: 'COMMON.ACCEPT.INAPP.PAYMENT' } } },
    validationMode: 'none',
  })
})

t.test('Authorize.Net: attaching the same card again returns the existing method', async (t) => {
  const { attach, customer } = await start(t)
  const provider_customer_id = await customer()
  t.same(await attach(provider_customer_id), await attach(provider_customer_id))
})

t.test('Authorize.Net: a token whose call was lost is not sent again, and a new token finds the method', async (t) => {
  const { fake, attach, customer } = await start(t, { timeoutMs: 1000 })
  const provider_customer_id = await customer()
  for (const fault of [
    { kind: 'drop', commits: true },
    { kind: 'garbage', commits: true },
    { kind: 'hang', commits: true },
  ] as const) {
    fake.faults.next(fault)
    const before = fake.calls.length
    await t.rejects(attach(provider_customer_id), lost, fault.kind)
    t.equal(fake.calls.length, before + 1)
  }
  const attached = await attach(provider_customer_id)
  t.same([...(fake.profiles.customers.get(provider_customer_id)?.methods.keys() ?? [])], [attached.provider_method_id])
})

t.test('Authorize.Net: attaching fails when the method cannot be read back, and finds it the next time', async (t) => {
  const { fake, attach, customer } = await start(t, { timeoutMs: 700 })
  const provider_customer_id = await customer()
  fake.readFaults.always({ kind: 'status', status: 500, commits: false })
  await t.rejects(attach(provider_customer_id), lost)
  fake.readFaults.always(undefined)
  t.match(await attach(provider_customer_id), { last_four: '0015' })
})

t.test('Authorize.Net: attaching rejects a used or malformed token, and a missing customer', async (t) => {
  const { fake, attach, customer } = await start(t)
  const provider_customer_id = await customer()
  const token = fake.profiles.tokenise(card)
  await attach(provider_customer_id, token)
  const rejection = (code: string) => ({ name: 'ProviderError', kind: 'rejected', code })
  await t.rejects(attach(provider_customer_id, token), rejection('E00114'))
  for (const malformed of ['', 'tok_visa', ':', 'COMMON.ACCEPT.INAPP.PAYMENT:', 'COMMON.X:with space', ':value'])
    await t.rejects(attach(provider_customer_id, malformed), rejection('malformed_token'), malformed)
  await t.rejects(attach(null), rejection('no_customer'))
  await t.rejects(attach('1'), rejection(customerMissing), 'an unknown customer')
})

t.test('Authorize.Net: reading a token returns only its wallet and a hash as id', async (t) => {
  const { fake, methods } = await start(t)
  const unknown = {
    payment_type: null,
    wallet_type: null,
    card_brand: null,
    last_four: null,
    expiry_month: null,
    expiry_year: null,
  }
  const token = fake.profiles.tokenise(card)
  const read = (token: string) => methods.readMethod({ token, owner: 'guest:ada@example.com' })
  const found = await read(token)
  t.match(found, unknown)
  t.notOk(found.provider_method_id.includes(token.slice(-10)))
  t.equal((await read(token)).provider_method_id, found.provider_method_id)
  t.not((await read(`${token}A`)).provider_method_id, found.provider_method_id)
  t.equal((await read('COMMON.APPLE.INAPP.PAYMENT:abc')).wallet_type, 'apple_pay')
  t.equal((await read('COMMON.GOOGLE.INAPP.PAYMENT:abc')).wallet_type, 'google_pay')
  await t.rejects(read('tok_visa'), { code: 'malformed_token' })
  t.equal(fake.calls.length, 0)
})

t.test('Authorize.Net: detaching a method deletes it, and succeeds again when it is gone', async (t) => {
  const { fake, methods, attach, customer } = await start(t)
  const method = await attach(await customer())
  fake.faults.next({ kind: 'drop', commits: true })
  await methods.detachMethod(method)
  await methods.detachMethod(method)
  await methods.detachMethod({ provider_customer_id: '1', provider_method_id: '2' })
  t.equal(fake.profiles.customers.get(method.provider_customer_id)?.methods.size, 0)
  fake.failNext('E00007')
  await t.rejects(methods.detachMethod(method), { kind: 'unavailable', code: 'E00007' })
})

t.test(
  'Authorize.Net: deleting a customer deletes it with its methods, and succeeds again when it is gone',
  async (t) => {
    const { fake, methods, attach, customer } = await start(t)
    const id = await customer()
    await attach(id)
    fake.faults.next({ kind: 'drop', commits: true })
    await methods.deleteCustomer(id)
    t.equal(fake.profiles.customers.size, 0)
    await methods.deleteCustomer(id)
    fake.failNext('E00007')
    await t.rejects(methods.deleteCustomer(id), { kind: 'unavailable', code: 'E00007' })
    for (let attempt = 1; attempt <= 3; attempt++) fake.failNext('E00001')
    await t.rejects(methods.deleteCustomer(id), { kind: 'unknown', code: 'E00001' })
  },
)

t.test('Authorize.Net: a saved method is read in its current state, and is null after its deletion', async (t) => {
  const { fake, methods, attach, customer } = await start(t)
  const { provider_customer_id, provider_method_id } = await attach(await customer())
  const retrieve = async (id = provider_method_id, owner = provider_customer_id) =>
    methods.retrieveMethod?.({ provider_method_id: id, provider_customer_id: owner })
  fake.profiles.changeMethod(provider_customer_id, provider_method_id, { card: 'new-0027', expirationDate: '2034-11' })
  t.same(await retrieve(), {
    payment_type: 'card',
    wallet_type: null,
    card_brand: 'MasterCard',
    last_four: '0027',
    expiry_month: '11',
    expiry_year: '2034',
  })
  t.equal(await retrieve('1'), null, 'unknown')
  const other = await methods.createCustomer({ ...owner, user_id: 'user-2' })
  t.equal(await retrieve(provider_method_id, other ?? ''), null, "another customer's")
  fake.failNext('E00007')
  await t.rejects(retrieve(), { kind: 'unavailable', code: 'E00007' }, 'another error is not null')
  fake.profiles.deleteMethod(provider_customer_id, provider_method_id)
  t.equal(await retrieve(), null, 'deleted')
  const again = await attach(provider_customer_id)
  fake.profiles.deleteCustomer(provider_customer_id)
  t.equal(await retrieve(again.provider_method_id), null, 'deleted with the customer')
})

t.test(
  'Authorize.Net: attaching to a lost customer reports customer_missing, and the token stays usable',
  async (t) => {
    const { fake, attach, customer } = await start(t)
    const lost = await customer()
    fake.profiles.deleteCustomer(lost)
    const token = fake.profiles.tokenise(card)
    await t.rejects(attach(lost, token), { name: 'ProviderError', kind: 'rejected', code: customerMissing })
    const another = await customer()
    t.not(another, lost)
    t.match(await attach(another, token), { provider_customer_id: another, last_four: '0015' })
  },
)
