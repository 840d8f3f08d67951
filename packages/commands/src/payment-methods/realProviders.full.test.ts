// Saving and removing methods at fakes of every real provider, over its wire format.

import { paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import { freePort } from '@paylog/testing/processes'
import t from 'tap'
import { ada, adaId, grace, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { type FakeMethodProvider, providerFromEnv, startFakeMethodProviders } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'

const fakes = await startFakeMethodProviders(t)
const adapters = await Promise.all(fakes.map((fake) => providerFromEnv(t, fake.env)))
const api = await methodsHarness(t, adapters)
const { save, remove, providers, recordsNothing, stateOf, typesOf, wholeLog, logged } = api

t.beforeEach(() => {
  for (const fake of fakes) fake.faults.always(undefined)
  for (const adapter of adapters) providers.set(adapter.id, adapter)
})

const tokens: string[] = []
function bodyOf(fake: FakeMethodProvider, token = fake.token()) {
  tokens.push(token)
  return { payment_method_token: token, provider_id: fake.id }
}
/** The recorded customer of a user. */
async function customersOf(fake: FakeMethodProvider, userId: string): Promise<string[]> {
  const events = await api.store.readStream(providerCustomerStream(fake.id, userId))
  return events.flatMap((event) => (event.type === 'ProviderCustomerLinked' ? [event.data.provider_customer_id] : []))
}

for (const fake of fakes) {
  t.test(`${fake.id}: 8 methods saved concurrently create one customer [4.4-customer-created]`, async (t) => {
    const before = { customers: fake.customers(), attached: fake.attached() }
    // The other requests arrive during the first call, and wait as long as in production.
    providers.set(fake.id, await providerFromEnv(t, { ...fake.env, PROVIDER_TIMEOUT_MS: '10000' }))
    fake.faults.next({ kind: 'slow', ms: 900 })
    const responses = await Promise.all(Array.from({ length: 8 }, () => save(bodyOf(fake))))
    t.same([...new Set(responses.map(({ status }) => status))], [201])
    t.equal(new Set(responses.map(({ id }) => id)).size, 8)
    t.equal(fake.attached(), before.attached + 8)
    for (const { data } of responses) t.match(data, { ...fake.shown, provider_id: fake.id, customer_id: /./ })
    const [customer, ...more] = await customersOf(fake, adaId)
    t.same(more, [], 'one customer is recorded')
    if (before.customers !== null) {
      t.equal(fake.customers(), before.customers + 1)
      t.same([...new Set(responses.map(({ data }) => data?.customer_id))], [customer])
    }

    const further = await save(bodyOf(fake))
    t.equal(further.data?.customer_id, customer, 'the next method uses the recorded customer')
    t.same(await customersOf(fake, adaId), [customer])
  })

  t.test(`${fake.id}: a customer that the provider lost is created again once`, async (t) => {
    const [lost = ''] = await customersOf(fake, adaId)
    fake.loseCustomer(lost)
    const { status, data } = await save(bodyOf(fake))
    t.equal(status, 201)
    t.not(data?.customer_id, lost)
    t.same(await customersOf(fake, adaId), [lost, data?.customer_id])
    t.equal((await save(bodyOf(fake))).data?.customer_id, data?.customer_id)
    t.equal((await customersOf(fake, adaId)).length, 2)
  })

  t.test(
    `${fake.id}: a guest's method is not stored at the provider, nor removed there [10.3-guest-removed]`,
    async (t) => {
      const before = { customers: fake.customers(), attached: fake.attached(), detached: fake.detached() }
      const { status, data, id } = await save(bodyOf(fake), guest)
      t.equal(status, 201)
      t.match(data, { provider_id: fake.id, customer_id: null, guest_email: guestEmail })
      providers.delete(fake.id)
      t.equal((await remove(id, guest)).status, 200, 'removed without a provider call')
      t.same({ customers: fake.customers(), attached: fake.attached(), detached: fake.detached() }, before)
      t.match(await stateOf(id), { status: 'removed' })
    },
  )

  t.test(`${fake.id}: a removed method is detached, also if the provider already detached it`, async (t) => {
    const { id } = await save(bodyOf(fake))
    const before = fake.detached()
    const removed = await remove(id)
    t.equal(removed.status, 200)
    t.equal(fake.detached(), before + 1)
    t.same(removed.json, { success: true, data: { id, deleted: true } })
    t.same(await typesOf(paymentMethodStream(id)), ['PaymentMethodAdded', 'PaymentMethodRemoved'])

    const other = await save(bodyOf(fake))
    const { provider_method_id, provider_customer_id } = await stateOf(other.id)
    const methods = providers.get(fake.id)?.methods
    await methods?.detachMethod({ provider_method_id, provider_customer_id: provider_customer_id ?? '' })
    t.equal((await remove(other.id)).status, 200)
  })

  t.test(`${fake.id}: a method that cannot be detached is not removed [10.3-delete-outage]`, async (t) => {
    const { id, etag } = await save(bodyOf(fake))
    const detached = fake.detached()
    fake.faults.always({ kind: 'drop', commits: false })
    t.match(await recordsNothing(t, () => remove(id)), { status: 504, code: 'provider_outcome_unknown' })
    fake.faults.always(undefined)
    const closed = `http://127.0.0.1:${await freePort()}`
    const env = Object.entries(fake.env).map(([name, value]) => [name, name.endsWith('_API_BASE') ? closed : value])
    providers.set(fake.id, await providerFromEnv(t, Object.fromEntries(env)))
    t.match(await recordsNothing(t, () => remove(id)), { status: 502, code: 'provider_unavailable' })
    t.match(await recordsNothing(t, () => save(bodyOf(fake), grace)), { status: 502, code: 'provider_unavailable' })
    providers.delete(fake.id)
    const rejected = await recordsNothing(t, () => remove(id))
    t.match(rejected, { status: 422, code: 'provider_not_enabled' })
    t.equal(fake.detached(), detached)
    for (const adapter of adapters) providers.set(adapter.id, adapter)
    t.equal((await remove(id, { ...ada, 'if-match': etag })).status, 200)
  })

  t.test(`${fake.id}: a method whose provider response is lost is saved once after a retry`, async (t) => {
    for (const commits of [true, false]) {
      const name = `commits ${commits}`
      const before = fake.attached()
      const body = bodyOf(fake)
      fake.faults.next({ kind: 'drop', commits })
      let response = await save(body)
      // The call cannot be repeated without a key, so the payer must fill in the form again.
      if (fake.id === 'authorize-net') {
        t.match(response, { status: 504, code: 'provider_outcome_unknown' }, name)
        response = await save(bodyOf(fake, fake.tokenAgain(body.payment_method_token)))
      }
      t.equal(response.status, 201, name)
      t.equal(fake.attached(), before + 1, name)
    }
  })
}

t.test('tokens that are not method ids appear neither in events nor in log lines', async (t) => {
  const recorded = await wholeLog()
  const secret = tokens.filter((token) => token.length > 10 && !token.startsWith('pm_'))
  t.ok(secret.length > 20, 'many tokens were used')
  // A guest's setup token is the only id of its method.
  const known = new Set(recorded.match(/"provider_method_id":"[^"]*"/g))
  for (const token of secret) {
    t.notOk(
      logged.some((line) => line.includes(token)),
      'of ours',
    )
    if (!known.has(`"provider_method_id":"${token}"`)) t.notOk(recorded.includes(token), 'of events')
  }
})
