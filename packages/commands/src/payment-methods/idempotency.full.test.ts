import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import { noRights } from '@paylog/domain/rights'
import { idempotentRequestStream } from '@paylog/event-store/streamName'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { requestIdentity } from '../request/requestIdentity.ts'
import { ada, adaId, freshKey } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'

const fake = await startFakeStripe(t)
const stripe = await providerFromEnv(t, fake.env)
const api = await methodsHarness(t, [stripe])
const { save, change, store, providers, time, recordsNothing, typesOf } = api

t.beforeEach(() => {
  fake.faults.always(undefined)
  providers.set('stripe', stripe)
  time.now = () => new Date()
})

const bodyOf = (more: object = {}) => ({ payment_method_token: fake.addMethod().id, ...more })
const attached = () => fake.events.filter(({ type }) => type === 'payment_method.attached').length
const session = {
  kind: 'session',
  user_id: adaId,
  user_type: 'user',
  user_email: 'ada@example.com',
  ...noRights,
} as const
const requestStream = (key: { readonly 'idempotency-key': string }) =>
  idempotentRequestStream(requestIdentity(store.hash, key['idempotency-key'], session, 'POST /payment-methods', {}).id)
const declined = { message: 'Declined', type: 'card_error', code: 'card_declined' } as const

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
