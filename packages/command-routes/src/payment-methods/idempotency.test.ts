import { ownerOf } from '@paylog/domain/actor'
import { methodRequestInFlightMs } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodRequestStream, paymentMethodStream } from '@paylog/event-store/streamName'
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
const { save, change, remove, providers, time, recordsNothing, typesOf, defaultsOf } = api

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
  paymentMethodRequestStream(requestIdentity(key['idempotency-key'], session, 'POST /payment-methods', {}).id)
const declined = { message: 'Declined', type: 'card_error', code: 'card_declined' } as const

t.test('the same key and body give the same answer without another call', async (t) => {
  const key = freshKey()
  const body = bodyOf({ alias: 'First', is_default: true })
  const first = await save(body, { ...ada, ...key })
  t.same([first.status, first.replayed], [201, false])
  t.same(await typesOf(requestStream(key)), ['PaymentMethodRequested', 'PaymentMethodRequestAnswered'])
  const calls = fake.calls.length
  providers.clear()
  const again = await recordsNothing(t, () => save(body, { ...ada, ...key }))
  t.same([again.status, again.replayed], [201, true])
  t.same(again.answer, first.answer)
  t.equal(again.etag, first.etag)
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  t.equal(fake.calls.length, calls)
})

t.test('the answer is replayed as it was, whatever became of the method since', async (t) => {
  const key = { ...ada, ...freshKey() }
  const body = bodyOf({ alias: 'First' })
  const first = await save(body, key)
  await change(first.id, { alias: 'Second', is_default: true })
  const changed = await save(body, key)
  t.same(changed.answer, first.answer)
  t.equal(changed.etag, '"0"')
  await remove(first.id)
  const removed = await save(body, key)
  t.same([removed.status, removed.answer, removed.etag], [201, first.answer, '"0"'])
})

t.test('a method that was saved before is answered with 200 each time', async (t) => {
  const body = bodyOf()
  const first = await save(body)
  const key = { ...ada, ...freshKey() }
  const second = await save(body, key)
  t.same([second.status, second.replayed, second.id], [200, false, first.id])
  await change(first.id, { alias: 'Later' })
  const third = await save(body, key)
  t.same([third.status, third.replayed], [200, true])
  t.same(third.answer, second.answer)
})

t.test('another body under the same key is 422, whatever became of the first', async (t) => {
  for (const refusal of [
    undefined,
    { status: 402, error: declined },
    { status: 400, error: { ...declined, type: 'invalid_request_error' as const } },
  ]) {
    await save(bodyOf())
    const key = { ...ada, ...freshKey() }
    const body = bodyOf({ alias: 'First' })
    if (refusal) fake.failNext(refusal)
    await save(body, key)
    for (const other of [
      { ...body, alias: 'Second' },
      { ...body, payment_method_token: fake.addMethod().id },
      { ...body, is_default: true },
    ]) {
      const refused = await recordsNothing(t, () => save(other, key))
      t.same([refused.status, refused.code], [422, 'idempotency_key_reused'])
    }
  }
})

t.test('another caller has keys of their own', async (t) => {
  const key = freshKey()
  const ids = new Set<string>()
  for (const caller of [ada, grace, guest]) {
    const answer = await save(bodyOf(), { ...caller, ...key })
    t.same([answer.status, answer.replayed], [201, false])
    ids.add(answer.id)
  }
  t.equal(ids.size, 3)
})

t.test('of 24 identical requests at once one asks the provider', async (t) => {
  await save(bodyOf())
  for (const caller of [ada, guest]) {
    const key = { ...caller, ...freshKey() }
    const body = bodyOf({ is_default: true })
    const before = { calls: fake.calls.length, attached: attached() }
    fake.faults.next({ kind: 'slow', ms: 100 })
    const answers = await Promise.all(Array.from({ length: 24 }, () => save(body, key)))
    const statuses = [...new Set(answers.map(({ status }) => status))]
    t.ok(
      statuses.every((status) => status === 201 || status === 409),
      `${statuses}`,
    )
    t.equal(answers.filter(({ status, replayed }) => status === 201 && !replayed).length, 1)
    for (const { status, code } of answers) if (status === 409) t.equal(code, 'idempotency_key_in_flight')
    t.equal(fake.calls.length, before.calls + 1)
    t.equal(attached(), before.attached + (caller === ada ? 1 : 0))
    const again = await save(body, key)
    t.same([again.status, again.replayed], [201, true])
    t.same(again.answer, answers.find(({ status }) => status === 201)?.answer)
    t.same(await typesOf(paymentMethodStream(again.id)), ['PaymentMethodAdded'])
  }
  t.equal((await defaultsOf(ownerOf(session))).length, 1)
  t.equal((await defaultsOf(`guest:${guestEmail}`)).length, 1)
})

t.test('a request whose process died is in flight for a while, and is then made again with the same key', async (t) => {
  await save(bodyOf())
  const key = { ...ada, ...freshKey() }
  const body = bodyOf()
  // The first one waits at the provider until it is forgotten.
  const release = Promise.withResolvers<never>()
  providers.set('stripe', {
    ...stripe,
    methods: stripe.methods && { ...stripe.methods, attachMethod: () => release.promise },
  })
  const dying = save(body, key)
  await waitFor(async () => (await typesOf(requestStream(key))).length === 1, { what: 'the first to begin' })
  providers.set('stripe', stripe)
  t.match(await recordsNothing(t, () => save(body, key)), { status: 409, code: 'idempotency_key_in_flight' })
  time.now = () => new Date(Date.now() + methodRequestInFlightMs)
  const finished = await save(body, key)
  t.same([finished.status, finished.replayed], [201, false])
  t.match(await save(body, key), { status: 201, replayed: true })
  release.reject(new Error('It was not dead after all'))
  t.equal((await dying).status, 500)
  t.match(await save(body, key), { status: 201, replayed: true }, 'and its late end changes nothing')
})

t.test('a decline is kept and replayed', async (t) => {
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

t.test('what failed otherwise may be sent again at once, and makes the same call', async (t) => {
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
    t.same((await typesOf(requestStream(key))).slice(-2), ['PaymentMethodRequested', 'PaymentMethodRequestAnswered'])
  }
})

t.test('what is refused before the provider is asked leaves the key unused [10.1-key-unused]', async (t) => {
  const key = { ...ada, ...freshKey() }
  const body = bodyOf()
  const before = attachCalls()
  for (const bad of [
    { ...body, billing_address_id: 'nowhere' },
    { ...body, provider_id: 'paypal' },
    { ...body, alias: 'My 4242 4242 4242 4242' },
  ])
    t.equal((await recordsNothing(t, () => save(bad, key))).status, 422)
  t.equal(attachCalls(), before, 'nobody was asked')
  t.equal((await save(body, key)).status, 201)
  t.equal(attachCalls(), before + 1)
})

t.test('without a key every request is another one, of which nothing but the method is recorded', async (t) => {
  const body = bodyOf()
  t.equal((await save(body)).status, 201)
  t.match(await recordsNothing(t, () => save(body)), { status: 200, replayed: false })
})
