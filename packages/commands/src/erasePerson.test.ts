// What an erasure does at the providers.
import { providerCustomerFold } from '@paylog/domain/providerCustomer'
import { customerDeletionStream, paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import t from 'tap'
import type { Workflow } from './context.ts'
import { type PersonAtProviders, removeAtProviders } from './erasePerson.ts'
import { newGuest, newUser, savedMethodHarness } from './testing/savedMethodHarness.ts'
import { crashAfter, crashes, metadata } from './testing/workflowHarness.ts'

const { workflow, store, fake, idOf, newToken, typesOf, save, remove, stateOf } = await savedMethodHarness(t)

const erase = (person: PersonAtProviders, on: Workflow = workflow) => removeAtProviders(on, person, metadata)

/** The outcomes in order: the id of a customer or method, and what happened. */
const outcomes = async (person: PersonAtProviders, on?: Workflow) =>
  (await erase(person, on)).map(({ provider_customer_id, payment_method_id, outcome }) => [
    provider_customer_id ?? payment_method_id,
    outcome,
  ])

/** A user with two saved methods. */
async function savedBy(by = newUser('ada@example.com')) {
  const tokens = [newToken(), newToken()]
  for (const token of tokens) await save({ by, token })
  fake.calls.length = 0
  const { user_id } = by
  const person = { user_id, payment_method_ids: tokens.map(idOf) }
  return { by, tokens, person, customer: `cus_${user_id}`, customers: providerCustomerStream('vault', user_id) }
}

t.test("an erasure deletes a user's customer and removes the saved methods, once", async (t) => {
  const other = await savedBy()
  const { person, tokens, customer, customers } = await savedBy()
  const [first = '', second = ''] = person.payment_method_ids
  t.same(await erase({ ...person, payment_method_ids: [...person.payment_method_ids, idOf(other.tokens[0] ?? '')] }), [
    {
      provider_id: 'vault',
      provider_customer_id: customer,
      payment_method_id: null,
      outcome: 'deleted',
      message: null,
    },
    { provider_id: 'vault', provider_customer_id: null, payment_method_id: first, outcome: 'deleted', message: null },
    { provider_id: 'vault', provider_customer_id: null, payment_method_id: second, outcome: 'deleted', message: null },
  ])
  t.same(fake.calls, ['delete customer', 'detach', 'detach'])
  t.same(await typesOf(customers), ['ProviderCustomerLinked', 'ProviderCustomerDeleted'])
  t.same(await typesOf(customerDeletionStream('vault', customer)), ['ProviderCustomerDeletionRequested'])
  for (const token of tokens) t.match(await stateOf(token), { status: 'removed' })
  t.same(await erase(person), [], 'again')
  for (const token of other.tokens) t.match(await stateOf(token), { status: 'saved' }, "another user's method")
  t.same(await typesOf(other.customers), ['ProviderCustomerLinked'])
})

t.test('a user gets a new customer with the next method after an erasure', async (t) => {
  const { by, person, customers } = await savedBy()
  await erase(person)
  await save({ by, token: newToken() })
  t.match((await store.load(customers, providerCustomerFold)).state, { generation: 2, provider_customer_id: /^cus_/ })
})

t.test("a provider's failure is the result of its customer, and a repeated erasure completes", async (t) => {
  for (const outcome of ['unknown', 'unavailable', 'rejected'] as const) {
    const { person, customer, customers } = await savedBy()
    const [first, second] = person.payment_method_ids
    fake.meanwhile = async (call) => {
      if (call === 'delete customer') throw new ProviderError(outcome, 'http_500', 'Not now')
    }
    t.same(await outcomes(person), [
      [customer, outcome],
      [first, 'deleted'],
      [second, 'deleted'],
    ])
    t.same(await typesOf(customers), ['ProviderCustomerLinked'])
    fake.meanwhile = undefined
    t.same(await outcomes(person), [[customer, 'deleted']])
  }
})

t.test('a customer at a provider that is not enabled is reported', async (t) => {
  const user = newUser()
  const data = { provider_id: 'stripe', user_id: user.user_id, provider_customer_id: 'cus_1' }
  await store.handle({
    stream: providerCustomerStream('stripe', user.user_id),
    fold: providerCustomerFold,
    decide: () => [{ type: 'ProviderCustomerLinked', data: { ...data, occurred_at: new Date().toISOString() } }],
    metadata,
  })
  const [result] = await erase({ user_id: user.user_id, payment_method_ids: [] })
  t.match(result, { provider_id: 'stripe', provider_customer_id: 'cus_1', outcome: 'unavailable', message: /\w/ })
})

t.test("an erasure removes a guest's methods", async (t) => {
  const by = newGuest('Ada.Guest@example.com')
  const [kept, removed] = [newToken(), newToken()]
  for (const token of [kept, removed]) await save({ by, token })
  await remove({ by, token: removed })
  const person = { guest_email: 'ada.guest@EXAMPLE.com', payment_method_ids: [kept, removed].map(idOf) }
  t.same(await outcomes(person), [[idOf(kept), 'deleted']])
  t.match(await stateOf(kept), { status: 'removed' })
})

t.test('a customer that only a method names is deleted too', async (t) => {
  const { by, person, customer } = await savedBy()
  const [first = ''] = person.payment_method_ids
  // As after a crash between recording the method and linking the customer that the provider made with it.
  const unlinked: Workflow = {
    ...workflow,
    store: { ...store, load: (stream, ...more) => store.load(stream.replace(by.user_id, 'nobody'), ...more) },
  }
  t.same((await outcomes(person, unlinked))[0], [customer, 'deleted'])
  t.same(await typesOf(paymentMethodStream(first)), ['PaymentMethodAdded', 'PaymentMethodRemoved'])
})

t.test('an erasure that crashed at any append is completed by the next one', async (t) => {
  for (let appends = 0; ; appends++) {
    const { person, tokens, customers, customer } = await savedBy()
    const hasCrashed = await crashes(erase(person, crashAfter(appends, workflow)))
    for (const { outcome } of await erase(person)) t.equal(outcome, 'deleted')
    t.equal((await typesOf(customers)).at(-1), 'ProviderCustomerDeleted')
    for (const token of tokens) t.match(await stateOf(token), { status: 'removed' }, customer)
    if (!hasCrashed) break
  }
})
