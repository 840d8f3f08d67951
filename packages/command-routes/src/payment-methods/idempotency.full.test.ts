import { ownerOf } from '@paylog/domain/actor'
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import { idempotentRequestStream, paymentMethodStream } from '@paylog/event-store/streamName'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { requestIdentity } from '../idempotency.ts'
import { ada, adaId, freshKey, grace, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'

const fake = await startFakeStripe(t)
const stripe = await providerFromEnv(t, fake.env)
const api = await methodsHarness(t, [stripe])
const { save, change, remove, store, providers, time, recordsNothing, typesOf, defaultOf } = api

t.beforeEach(() => {
  fake.faults.always(undefined)
  providers.set('stripe', stripe)
  time.now = () => new Date()
})

const bodyOf = (more: object = {}) => ({ payment_method_token: fake.addMethod().id, ...more })
const attachCalls = () => fake.calls.filter(({ path }) => path.endsWith('/attach')).length
const attached = () => fake.events.filter(({ type }) => type === 'payment_method.attached').length
const session = {
  kind: 'session',
  user_id: adaId,
  user_type: 'user',
  user_email: 'ada@example.com',
  is_administrator: false,
} as const
const requestStream = (key: { readonly 'idempotency-key': string }) =>
  idempotentRequestStream(requestIdentity(store.hash, key['idempotency-key'], session, 'POST /payment-methods', {}).id)
const declined = { message: 'Declined', type: 'card_error', code: 'card_declined' } as const

t.test('saving a method again with the same key and body replays the response without a provider call', async (t) => {
  const key = freshKey()
  const body = bodyOf({ alias: 'First', is_default: true })
  const first = await save(body, { ...ada, ...key })
  t.same([first.status, first.replayed], [201, false])
  t.same(await typesOf(requestStream(key)), ['IdempotentRequestStarted', 'IdempotentRequestEnded'])
  const calls = fake.calls.length
  providers.clear()
  const again = await recordsNothing(t, () => save(body, { ...ada, ...key }))
  t.same([again.status, again.replayed], [201, true])
  t.same(again.json, first.json)
  t.equal(again.etag, first.etag)
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  t.equal(fake.calls.length, calls)
})

t.test('saving a method is replayed as it was after the method was changed or removed', async (t) => {
  const key = { ...ada, ...freshKey() }
  const body = bodyOf({ alias: 'First' })
  const first = await save(body, key)
  await change(first.id, { alias: 'Second', is_default: true })
  const changed = await save(body, key)
  t.same(changed.json, first.json)
  t.equal(changed.etag, '"0"')
  await remove(first.id)
  const removed = await save(body, key)
  t.same([removed.status, removed.json, removed.etag], [201, first.json, '"0"'])
})

t.test('saving an already saved method is 200, also when replayed', async (t) => {
  const body = bodyOf()
  const first = await save(body)
  const key = { ...ada, ...freshKey() }
  const second = await save(body, key)
  t.same([second.status, second.replayed, second.id], [200, false, first.id])
  await change(first.id, { alias: 'Later' })
  const third = await save(body, key)
  t.same([third.status, third.replayed], [200, true])
  t.same(third.json, second.json)
})

t.test('saving a method with another body under the same key is 422 after any outcome of the first', async (t) => {
  for (const rejection of [
    undefined,
    { status: 402, error: declined },
    { status: 400, error: { ...declined, type: 'invalid_request_error' as const } },
  ]) {
    await save(bodyOf())
    const key = { ...ada, ...freshKey() }
    const body = bodyOf({ alias: 'First' })
    if (rejection) fake.failNext(rejection)
    await save(body, key)
    for (const other of [
      { ...body, alias: 'Second' },
      { ...body, payment_method_token: fake.addMethod().id },
      { ...body, is_default: true },
    ]) {
      const rejected = await recordsNothing(t, () => save(other, key))
      t.same([rejected.status, rejected.code], [422, 'idempotency_key_reused'])
    }
  }
})

t.test('callers saving methods do not share idempotency keys', async (t) => {
  const key = freshKey()
  const ids = new Set<string>()
  for (const caller of [ada, grace, guest]) {
    const response = await save(bodyOf(), { ...caller, ...key })
    t.same([response.status, response.replayed], [201, false])
    ids.add(response.id)
  }
  t.equal(ids.size, 3)
})

t.test('of 24 concurrent identical save requests one calls the provider', async (t) => {
  await save(bodyOf())
  for (const caller of [ada, guest]) {
    const key = { ...caller, ...freshKey() }
    const body = bodyOf({ is_default: true })
    const before = { calls: fake.calls.length, attached: attached() }
    fake.faults.next({ kind: 'slow', ms: 100 })
    const responses = await Promise.all(Array.from({ length: 24 }, () => save(body, key)))
    const statuses = [...new Set(responses.map(({ status }) => status))]
    t.ok(
      statuses.every((status) => status === 201 || status === 409),
      `${statuses}`,
    )
    t.equal(responses.filter(({ status, replayed }) => status === 201 && !replayed).length, 1)
    for (const { status, code } of responses) if (status === 409) t.equal(code, 'idempotency_key_in_flight')
    t.equal(fake.calls.length, before.calls + 1)
    t.equal(attached(), before.attached + (caller === ada ? 1 : 0))
    const again = await save(body, key)
    t.same([again.status, again.replayed], [201, true])
    t.same(again.json, responses.find(({ status }) => status === 201)?.json)
    t.same(await typesOf(paymentMethodStream(again.id)), ['PaymentMethodAdded'])
  }
  for (const owner of [ownerOf(session), `guest:${guestEmail}`]) t.type(await defaultOf(owner), 'string')
})

t.test(
  'a save request whose process crashed is in flight for a while, and is then repeated with the same key',
  async (t) => {
    await save(bodyOf())
    const key = { ...ada, ...freshKey() }
    const body = bodyOf()
    // The first call hangs at the provider for the whole test.
    const release = Promise.withResolvers<never>()
    providers.set('stripe', {
      ...stripe,
      methods: stripe.methods && { ...stripe.methods, attachMethod: () => release.promise },
    })
    const dying = save(body, key)
    await waitFor(async () => (await typesOf(requestStream(key))).length === 1, { what: 'the first to begin' })
    providers.set('stripe', stripe)
    t.match(await recordsNothing(t, () => save(body, key)), { status: 409, code: 'idempotency_key_in_flight' })
    time.now = () => new Date(Date.now() + requestInFlightMs)
    const finished = await save(body, key)
    t.same([finished.status, finished.replayed], [201, false])
    t.match(await save(body, key), { status: 201, replayed: true })
    release.reject(new Error('late failure'))
    t.equal((await dying).status, 500)
    t.match(await save(body, key), { status: 201, replayed: true }, 'a late failure changes nothing')
  },
)

t.test('a decline of a saved method is recorded and replayed', async (t) => {
  await save(bodyOf())
  const key = { ...ada, ...freshKey() }
  const body = bodyOf()
  fake.failNext({ status: 402, error: declined })
  const first = await save(body, key)
  t.same([first.status, first.code, first.replayed], [402, 'payment_declined', false])
  const calls = fake.calls.length
  const again = await recordsNothing(t, () => save(body, key))
  t.same([again.status, again.code, again.replayed], [402, 'payment_declined', true])
  t.equal(again.error?.message, first.error?.message)
  t.equal(fake.calls.length, calls)
  t.notMatch(JSON.stringify(await api.wholeLog()), /Declined/)
})

t.test('a save request that failed without a decline can be retried at once with the same provider key', async (t) => {
  await save(bodyOf())
  for (const [fail, status] of [
    [() => fake.failNext({ status: 400, error: { message: 'No', type: 'invalid_request_error' } }), 422],
    [() => fake.failNext({ status: 401, error: { message: 'No', type: 'invalid_request_error' } }), 502],
    [() => fake.faults.always({ kind: 'drop', commits: true }), 504],
    [() => fake.faults.always({ kind: 'drop', commits: false }), 504],
  ] as const) {
    const key = { ...ada, ...freshKey() }
    const body = bodyOf()
    const before = attached()
    fail()
    t.equal((await save(body, key)).status, status)
    fake.faults.always(undefined)
    const again = await save(body, key)
    t.same([again.status, again.replayed], [201, false])
    t.equal(attached(), before + 1)
    const keys = fake.calls
      .filter(({ path }) => path.includes(`/${body.payment_method_token}/attach`))
      .map(({ key }) => key)
    t.equal(new Set(keys).size, 1, `${status}: one key for all calls`)
    t.same((await typesOf(requestStream(key))).slice(-2), ['IdempotentRequestStarted', 'IdempotentRequestEnded'])
  }
})

t.test('a request rejected before the provider call leaves the key unused [10.1-key-unused]', async (t) => {
  const key = { ...ada, ...freshKey() }
  const body = bodyOf()
  const before = attachCalls()
  for (const bad of [
    { ...body, billing_address_id: 'nowhere' },
    { ...body, provider_id: 'paypal' },
    { ...body, alias: 'My 4242 4242 4242 4242' },
  ])
    t.equal((await recordsNothing(t, () => save(bad, key))).status, 422)
  t.equal(attachCalls(), before, 'no provider call')
  t.equal((await save(body, key)).status, 201)
  t.equal(attachCalls(), before + 1)
})

t.test('a save request without a key records only the method', async (t) => {
  const body = bodyOf()
  t.equal((await save(body)).status, 201)
  t.match(await recordsNothing(t, () => save(body)), { status: 200, replayed: false })
})
