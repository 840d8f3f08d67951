// Paying with a saved method: ownership, the provider call, and the response.

import { paymentStream } from '@paylog/event-store/streamName'
import { type CreateIntent, type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import t from 'tap'
import {
  adaId,
  ada as asAda,
  grace as asGrace,
  guest as asGuest,
  commandApiHarness,
  freshKey,
  graceId,
} from '../testing/commandApiHarness.ts'
import { visa } from '../testing/fakeVault.ts'
import { type MethodOwner, paymentMethodFixture, type StoredPaymentMethod } from '../testing/paymentMethodFixture.ts'

const calls: CreateIntent[] = []
/** Errors of the next createIntent calls. */
const faults: ProviderError[] = []
const sandbox = createSandbox({ webhookSecrets: ['secret'] })
const provider: Provider = {
  ...sandbox,
  async createIntent(request) {
    calls.push(request)
    const error = faults.shift()
    if (error) throw error
    return sandbox.createIntent(request)
  },
}
const { app, store, providers, lastPosition } = await commandApiHarness(t, { providers: [provider] })
const methods = paymentMethodFixture(store)

t.beforeEach(() => {
  calls.length = 0
  faults.length = 0
})

const ada: MethodOwner = { user_id: adaId, guest_email: null }
const grace: MethodOwner = { user_id: graceId, guest_email: null }
const guest: MethodOwner = { user_id: null, guest_email: 'Guest@Example.com' }
const guest_data = { email: 'guest@example.com', name: 'Guest' }

const body = { total_cents: 2599, currency: 'EUR', provider_id: 'sandbox' }
const post = (payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/payments/intents', headers, payload })
const pay = (method: StoredPaymentMethod, headers: Record<string, string>, more: object = {}) =>
  post({ ...body, payment_method_id: method.id, ...more }, headers)
const providerIds = ({ provider_method_id, provider_customer_id }: StoredPaymentMethod) => ({
  provider_method_id,
  provider_customer_id,
})
const summary = (method: StoredPaymentMethod) => ({
  id: method.id,
  ...visa,
  alias: 'Mine',
})

t.test('users and guests pay with their saved methods, which the payment shows', async (t) => {
  for (const [owner, headers, more] of [[ada, asAda, {}] as const, [guest, asGuest, { guest_data }] as const]) {
    const method = await methods.save(owner, 'sandbox')
    const response = await pay(method, headers, more)
    t.equal(response.statusCode, 201)
    const { data } = response.json()
    t.equal(data.payment_method_id, method.id)
    t.same(data.payment_method, summary(method))
    t.notOk(response.body.includes(method.provider_method_id), "the provider's method id is not exposed")
    const [initiated] = await store.readStream(paymentStream(data.id))
    t.match(initiated?.data, { payment_method_id: method.id, provider_method: providerIds(method) })
    t.match(calls.at(-1), { payment_id: data.id, ...providerIds(method) })
  }
})

t.test('the id of a saved method is case-insensitive', async (t) => {
  const method = await methods.save(ada, 'sandbox')
  const headers = { ...asAda, ...freshKey() }
  for (let n = 0; n < 2; n++) {
    const { data } = (await post({ ...body, payment_method_id: method.id.toUpperCase() }, headers)).json()
    t.match(data, { payment_method_id: method.id, payment_method: summary(method) })
  }
})

t.test("a provider's test method is sent by name, and the payment shows no method", async (t) => {
  const response = await post({ ...body, payment_method_id: 'pm_card_visa' })
  t.match(response.json().data, { payment_method_id: 'pm_card_visa', payment_method: null })
  t.match(calls, [{ provider_method_id: 'pm_card_visa', provider_customer_id: null }])
})

t.test(
  "a method that is not the caller's gives the same error in every case, and nothing is recorded [10.1-foreign-method]",
  async (t) => {
    const [own, ofGrace, ofGuest] = [
      await methods.save(ada, 'sandbox'),
      await methods.save(grace, 'sandbox'),
      await methods.save(guest, 'sandbox'),
    ]
    const elsewhere = await methods.save(ada, 'stripe')
    const removed = await methods.save(ada, 'sandbox')
    await methods.remove(removed)
    const ofAdasEmail = await methods.save({ user_id: null, guest_email: 'ada@example.com' }, 'sandbox')
    const ofOtherGuest = await methods.save({ user_id: null, guest_email: 'guest@example.org' }, 'sandbox')
    const cases: [string, string, Record<string, string>, object?][] = [
      ["another user's", ofGrace.id, asAda],
      ["a guest's, for a user", ofGuest.id, asAda],
      ["a guest's of the user's e-mail", ofAdasEmail.id, asAda],
      ["a user's, for an administrator", own.id, { 'x-session-id': 'demo-admin-session' }],
      ["a guest's, for a user who sends the guest's e-mail", ofGuest.id, asAda, { guest_data }],
      ["a user's, for a guest", own.id, asGuest, { guest_data }],
      ["another guest's", ofOtherGuest.id, asGuest, { guest_data }],
      ["a guest's, for an anonymous caller who sends the guest's e-mail", ofGuest.id, {}, { guest_data }],
      ["a user's, for an anonymous caller", own.id, {}],
      ["another provider's", elsewhere.id, asAda],
      ['removed', removed.id, asAda],
      ['unknown', 'b9a1f7a4-0000-4000-8000-000000000000', asAda],
      ["the provider's id of it", own.provider_method_id, asAda],
      ["the provider's id of it, for an anonymous caller", own.provider_method_id, {}],
      ['a stream name', `paymentMethod-${own.id}`, asAda],
      ['a path', `../${own.id}`, asAda],
      ['non-ASCII text', 'ключ', asAda],
    ]
    const before = await lastPosition()
    const responses = new Set<string>()
    for (const [name, payment_method_id, caller, more] of cases) {
      const response = await post({ ...body, payment_method_id, ...more }, { ...caller, ...freshKey() })
      t.equal(response.statusCode, 422, name)
      const { request_id, ...error } = response.json().error
      t.ok(request_id)
      responses.add(JSON.stringify(error))
    }
    t.same(
      [...responses].map((response) => JSON.parse(response)),
      [
        {
          code: 'reference_not_found',
          message: 'There is no such payment method',
          details: { field: 'payment_method_id' },
        },
      ],
    )
    t.equal(await lastPosition(), before, 'not even the guest token')
    t.same(calls, [])
  },
)

t.test('provider_id is required when several providers are enabled, also with a saved method', async (t) => {
  const method = await methods.save(ada, 'sandbox')
  providers.set('other', { ...provider, id: 'other' })
  const { statusCode } = await pay(method, asAda, { provider_id: undefined })
  t.equal(statusCode, 400)
  t.match((await pay(method, asAda, { provider_id: 'other' })).json(), { error: { code: 'reference_not_found' } })
  t.equal((await pay(method, asAda)).statusCode, 201)
  providers.delete('other')
})

t.test('a replayed payment shows the current method, even if removed', async (t) => {
  const method = await methods.save(ada, 'sandbox')
  const headers = { ...asAda, ...freshKey() }
  const first = (await pay(method, headers)).json()
  const replayed = async () => {
    const response = await pay(method, headers)
    t.equal(response.headers['idempotent-replayed'], 'true')
    return response.json()
  }
  t.same(await replayed(), first)
  await methods.rename(method, 'Renamed')
  const renamed = { ...first, data: { ...first.data, payment_method: { ...summary(method), alias: 'Renamed' } } }
  t.same(await replayed(), renamed)
  await methods.remove(method)
  t.same(await replayed(), renamed)
  t.equal(calls.length, 1)
})

t.test('a replayed payment does not show a method that belongs to another owner by now', async (t) => {
  const method = await methods.save(guest, 'sandbox')
  const headers = { ...asGuest, ...freshKey() }
  t.equal((await pay(method, headers, { guest_data })).statusCode, 201)
  await methods.remove(method)
  await methods.add(method, grace, 'canary of grace')
  const replay = await pay(method, headers, { guest_data })
  t.match(replay.json().data, { payment_method_id: method.id, payment_method: null })
  t.notOk(replay.body.includes('canary'))
  t.equal((await pay(method, asGrace)).statusCode, 201)
})

t.test('every create call of a payment sends the same method after it was removed', async (t) => {
  const unavailable = new ProviderError('unavailable', 'connection_refused', 'The provider cannot be reached')
  const unknown = new ProviderError('unknown', 'timeout', 'The provider timed out')
  const method = await methods.save(ada, 'sandbox')
  const headers = { ...asAda, ...freshKey() }
  faults.push(unavailable, unavailable)
  for (let n = 0; n < 2; n++) t.equal((await pay(method, headers)).statusCode, 502)
  await methods.remove(method)
  t.equal((await pay(method, headers)).statusCode, 201)
  t.match(calls, [providerIds(method), providerIds(method), providerIds(method)])
  t.equal(new Set(calls.map(({ idempotency_key }) => idempotency_key)).size, 3)

  const other = await methods.save(ada, 'sandbox')
  faults.push(unknown)
  const lost = freshKey()
  t.match((await pay(other, { ...asAda, ...lost })).json(), { error: { code: 'provider_outcome_unknown' } })
  const replay = await pay(other, { ...asAda, ...lost })
  t.match(replay.json().data, { client_secret: null, payment_method: summary(other) })
})
