import { randomUUID } from 'node:crypto'
import { guestOwner, userOwner } from '@paylog/domain/actor'
import { defaultChoiceStream } from '@paylog/event-store/streamName'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { ada, adaId, freshKey, grace, graceId, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'
import { paymentMethodFixture } from '../testing/paymentMethodFixture.ts'

const fake = await startFakeStripe(t)
const stripe = await providerFromEnv(t, { ...fake.env, PROVIDER_TIMEOUT_MS: '10000' })
const { store, save, change, remove, recordsNothing, stateOf, defaultsOf } = await methodsHarness(t, [stripe])
const stored = paymentMethodFixture(store)
const callers = [
  { name: 'a user', headers: ada, owner: userOwner(adaId) },
  { name: 'a guest', headers: guest, owner: guestOwner(guestEmail) },
] as const
const bodyOf = (more: object = {}) => ({ payment_method_token: fake.addMethod().id, ...more })

t.test('the first method is not the default without is_default [10.3-first-method]', async (t) => {
  const { data, id } = await save(bodyOf(), grace)
  t.equal(data?.is_default, false)
  t.same(await defaultsOf(userOwner(graceId)), [])
  await change(id, { is_default: false }, grace)
  t.same(await defaultsOf(userOwner(graceId)), [])
})

for (const { name, headers, owner } of callers) {
  t.test(`${name}: the last chosen method is the default, and the previous one is cleared [2.3-default]`, async (t) => {
    const first = await save(bodyOf({ is_default: true }), headers)
    t.match(first, { status: 201, data: { is_default: true }, etag: '"0"' })
    t.same(await defaultsOf(owner), [first.id])
    const second = await save(bodyOf({ is_default: true }), headers)
    t.same(await defaultsOf(owner), [second.id])
    t.match(await stateOf(first.id), { is_default: false })
    t.match(await change(first.id, { is_default: true }, headers), { status: 200, data: { is_default: true } })
    t.same(await defaultsOf(owner), [first.id])
    t.match(await stateOf(second.id), { is_default: false })
  })

  t.test(`${name}: is_default false leaves no default, and the method can be chosen again`, async (t) => {
    const { id } = await save(bodyOf({ is_default: true }), headers)
    t.match((await change(id, { is_default: false }, headers)).data, { is_default: false })
    t.same(await defaultsOf(owner), [])
    t.match((await change(id, { is_default: true }, headers)).data, { is_default: true })
    t.same(await defaultsOf(owner), [id])
  })

  t.test(`${name}: removing the default method leaves no default`, async (t) => {
    const former = await save(bodyOf({ is_default: true }), headers)
    const { id } = await save(bodyOf({ is_default: true }), headers)
    await remove(id, headers)
    t.same(await defaultsOf(owner), [])
    t.match(await stateOf(former.id), { is_default: false })
  })

  t.test(`${name}: saving a method again with is_default makes it the default`, async (t) => {
    const body = bodyOf()
    const { id } = await save(body, headers)
    const other = await save(bodyOf({ is_default: true }), headers)
    const again = await save({ ...body, is_default: true }, { ...headers, ...freshKey() })
    t.match(again, { status: 200, id, data: { is_default: true } })
    t.same(await defaultsOf(owner), [id])
    t.match(await stateOf(other.id), { is_default: false })
    t.match(await save({ ...body, is_default: false }, headers), { status: 200, data: { is_default: true } })
  })

  t.test(`${name}: 10 concurrent default requests for different methods leave one default`, async (t) => {
    const before = await save(bodyOf({ is_default: true }), headers)
    const made = await Promise.all(Array.from({ length: 10 }, () => save(bodyOf(), headers)))
    const responses = await Promise.all(made.map(({ id }) => change(id, { is_default: true }, headers)))
    t.same([...new Set(responses.map(({ status, data }) => [status, data?.is_default].join()))], ['200,true'])
    t.equal((await defaultsOf(owner)).length, 1)
    const states = await Promise.all([before, ...made].map(({ id }) => stateOf(id)))
    t.equal(states.filter(({ is_default }) => is_default).length, 1, 'only one has is_default')
    const numbers = states.flatMap(({ default_choice }) => default_choice ?? [])
    t.equal(new Set(numbers).size, 11, 'each choice has its own number')
  })

  t.test(`${name}: 8 methods saved concurrently as the default leave one default`, async (t) => {
    const made = await Promise.all(Array.from({ length: 8 }, () => save(bodyOf({ is_default: true }), headers)))
    t.same([...new Set(made.map(({ status }) => status))], [201])
    t.equal((await defaultsOf(owner)).length, 1)
    const states = await Promise.all(made.map(({ id }) => stateOf(id)))
    t.equal(states.filter(({ is_default }) => is_default).length, 1)
  })
}

t.test('two methods made the default repeatedly and concurrently leave one default', async (t) => {
  const made = await Promise.all([1, 2].map(() => save(bodyOf())))
  await Promise.all(Array.from({ length: 12 }, (_, n) => change(made[n % 2]?.id ?? '', { is_default: true })))
  const defaults = await defaultsOf(userOwner(adaId))
  t.equal(defaults.length, 1)
  t.ok(made.some(({ id }) => id === defaults[0]))
})

t.test("a choice without effect does not clear another owner's default", async (t) => {
  const foreign = await stored.save({ user_id: graceId, guest_email: null }, 'stripe')
  await change(foreign.id, { is_default: true }, grace)
  t.same(await defaultsOf(userOwner(graceId)), [foreign.id])
  // Simulates a method that Grace saved after it was chosen for Ada.
  await store.handle({
    stream: defaultChoiceStream('payment_methods', userOwner(adaId)),
    fold: { initialState: 0, evolve: (count: number) => count + 1 },
    decide: (count) => [
      {
        type: 'DefaultChosen' as const,
        data: {
          list: 'payment_methods' as const,
          chosen_id: foreign.id,
          choice: count,
          occurred_at: new Date().toISOString(),
        },
      },
    ],
    metadata: { correlationId: 'test', causationId: 'test', actor: 'test' },
  })
  const { id } = await save(bodyOf({ is_default: true }))
  t.same(await defaultsOf(userOwner(adaId)), [id])
  t.same(await defaultsOf(userOwner(graceId)), [foreign.id])
})

t.test('a rejected request records no choice', async (t) => {
  const foreign = await save(bodyOf(), grace)
  const { provider_method_id } = await stateOf(foreign.id)
  const { id } = await save(bodyOf({ is_default: true }))
  for (const rejected of [
    () => save({ payment_method_token: provider_method_id, is_default: true }),
    () => save({ payment_method_token: 'pm_unknown', is_default: true }),
    () => change(foreign.id, { is_default: true }),
    () => change(randomUUID(), { is_default: true }),
  ])
    t.ok((await recordsNothing(t, rejected)).status >= 400)
  t.same(await defaultsOf(userOwner(adaId)), [id])
})
