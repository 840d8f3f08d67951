import { guestOwner, userOwner } from '@paylog/domain/actor'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { ada, adaId, freshKey, grace, graceId, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { methodsHarness } from '../testing/methodsHarness.ts'

const fake = await startFakeStripe(t)
const stripe = await providerFromEnv(t, { ...fake.env, PROVIDER_TIMEOUT_MS: '10000' })
const { save, change, defaultOf } = await methodsHarness(t, [stripe])
const callers = [
  { name: 'a user', headers: ada, owner: userOwner(adaId) },
  { name: 'a guest', headers: guest, owner: guestOwner(guestEmail) },
] as const
const bodyOf = (more: object = {}) => ({ payment_method_token: fake.addMethod().id, ...more })

t.test('the first method is not the default without is_default [10.3-first-method]', async (t) => {
  const { data, id } = await save(bodyOf(), grace)
  t.equal(data?.is_default, false)
  t.equal(await defaultOf(userOwner(graceId)), undefined)
  await change(id, { is_default: false }, grace)
  t.equal(await defaultOf(userOwner(graceId)), undefined)
})

for (const { name, headers, owner } of callers) {
  t.test(`${name}: the last chosen method is the default [2.3-default]`, async (t) => {
    const first = await save(bodyOf({ is_default: true }), headers)
    t.match(first, { status: 201, data: { is_default: true }, etag: '"0"' })
    t.equal(await defaultOf(owner), first.id)
    const second = await save(bodyOf({ is_default: true }), headers)
    t.equal(await defaultOf(owner), second.id)
    t.match(await change(first.id, { is_default: true }, headers), { status: 200, data: { is_default: true } })
    t.equal(await defaultOf(owner), first.id)
  })

  t.test(`${name}: is_default false leaves no default, and the method can be chosen again`, async (t) => {
    const { id } = await save(bodyOf({ is_default: true }), headers)
    t.match((await change(id, { is_default: false }, headers)).data, { is_default: false })
    t.equal(await defaultOf(owner), undefined)
    t.match((await change(id, { is_default: true }, headers)).data, { is_default: true })
    t.equal(await defaultOf(owner), id)
  })

  t.test(`${name}: saving a method again with is_default makes it the default`, async (t) => {
    const body = bodyOf()
    const { id } = await save(body, headers)
    await save(bodyOf({ is_default: true }), headers)
    const again = await save({ ...body, is_default: true }, { ...headers, ...freshKey() })
    t.match(again, { status: 200, id, data: { is_default: true } })
    t.equal(await defaultOf(owner), id)
    t.match(await save({ ...body, is_default: false }, headers), { status: 200, data: { is_default: true } })
  })
}

t.test(
  'of concurrent choices one is the default, and a request that lost too often is 409 [10.3-one-default]',
  async (t) => {
    const saved = await Promise.all(Array.from({ length: 3 }, () => save(bodyOf())))
    const ids = saved.map(({ id }) => id)
    const choices = Array.from({ length: 16 }, (_, n) => change(ids[n % ids.length] ?? '', { is_default: true }))
    for (const { status, code } of await Promise.all(choices))
      if (status !== 200) t.same([status, code], [409, 'concurrent_modification'])
    t.ok(ids.includes((await defaultOf(userOwner(adaId))) ?? ''))
  },
)
