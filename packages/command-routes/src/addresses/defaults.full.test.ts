import { ownerOf } from '@paylog/domain/actor'
import { addAddress, addressFold, changeAddress, existingAddress } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import { addressStream, defaultChoiceStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { requestIdentity } from '../idempotency.ts'
import { addressesHarness, billing, shipping } from '../testing/addressesHarness.ts'
import { ada, adaId, freshKey, grace, guest } from '../testing/commandApiHarness.ts'
import { chooseDefaultAddress, clearPreviousDefaultAddress } from './addressCommands.ts'
import { newContent } from './routeSchemas.ts'

const { post, put, remove, addressOf, stateOf, eventsOf, defaultOf, store, workflow, recordsNothing } =
  await addressesHarness(t)

const actor = { kind: 'session', user_id: adaId, user_type: 'user', user_email: null, is_administrator: false } as const
const owner = ownerOf(actor)
const metadata = { correlationId: 'test', causationId: 'test', actor: 'worker' }
const only = (id: string) => ({ marked: [id], shown: [id] })
const none = { marked: [], shown: [] }

/** The steps of a request that makes an address the default, for tests of a crash in between. */
const choose = (address_id: string, address_type: AddressType = 'billing') =>
  chooseDefaultAddress(workflow, { address_id, address_type, owner, metadata })
const carry = (address_id: string, choice: number, address_type: AddressType = 'billing') =>
  store.handle({
    stream: addressStream(address_id),
    fold: addressFold,
    decide: (state) =>
      changeAddress(
        { occurred_at: new Date().toISOString(), changes: {}, default_choice: { address_type, choice } },
        state,
      ),
    metadata,
  })

t.test('an address becomes the default only with is_default, and then replaces the previous one', async (t) => {
  const plain = await addressOf(grace)
  t.match(await stateOf(plain), { is_default: false, default_choice: null })
  const first = await addressOf(grace, { ...billing, is_default: true })
  const second = await addressOf(grace, { ...billing, is_default: true })
  const ids = [plain, first, second]
  t.same(await defaultOf(ids, 'billing'), only(second))
  t.match((await eventsOf(first)).at(-1), { type: 'AddressDefaultCleared' })
  t.match(await put(plain, { is_default: true, alias: 'x' }, grace), {
    status: 200,
    data: { is_default: true, alias: 'x' },
  })
  t.same(await defaultOf(ids, 'billing'), only(plain))
  t.match(await put(second, { alias: 'y' }, grace), { status: 200, data: { is_default: false } })
})

t.test('the ETag of the previous default changes when it is cleared', async (t) => {
  const { data, headers } = await post({ ...billing, is_default: true }, grace)
  await addressOf(grace, { ...billing, is_default: true })
  const stale = { ...grace, 'if-match': String(headers.etag) }
  t.equal((await put(data.id, { alias: 'x' }, stale)).status, 412)
})

t.test('each owner has one default for billing and one for shipping [10.3-address-defaults]', async (t) => {
  const bills = await addressOf(ada, { ...billing, is_default: true })
  const ships = await addressOf(ada, { ...shipping, is_default: true })
  const theirs = await addressOf(guest, { ...billing, is_default: true })
  const others = await addressOf(grace, { ...shipping, is_default: true })
  for (const id of [bills, ships, theirs, others]) t.match(await stateOf(id), { is_default: true })
  const more = []
  for (let choice = 0; choice < 4; choice++) more.push(await addressOf(ada, { ...shipping, is_default: true }))
  const latest = await addressOf(ada, { ...billing, is_default: true })
  t.same(
    await defaultOf([bills, ships, latest, ...more], 'billing'),
    only(latest),
    'shipping choices do not affect billing',
  )
})

t.test('making the default address the default again records nothing', async (t) => {
  const id = await addressOf(ada, { ...billing, is_default: true })
  const { status, data } = await recordsNothing(t, () => put(id, { is_default: true }))
  t.match({ status, data }, { status: 200, data: { is_default: true } })
})

t.test('clearing or removing the default leaves the owner without one', async (t) => {
  const first = await addressOf(ada, { ...billing, is_default: true })
  const second = await addressOf(ada, { ...billing, is_default: true })
  const ids = [first, second]
  t.match(await put(second, { is_default: false }), { status: 200, data: { is_default: false } })
  t.same(await defaultOf(ids, 'billing'), none, 'the previous default does not return')
  t.match(await put(second, { is_default: true }), { status: 200, data: { is_default: true } })
  t.same(await defaultOf(ids, 'billing'), only(second), 'it can be chosen again')
  await remove(second)
  t.same(await defaultOf(ids, 'billing'), none)
  await put(first, { is_default: true })
  t.same(await defaultOf(ids, 'billing'), only(first))
})

t.test('an address whose type changes is not the default, unless is_default is true', async (t) => {
  const bills = await addressOf(ada, { ...billing, is_default: true })
  const ships = await addressOf(ada, { ...shipping, is_default: true })
  const moved = await put(bills, { address_type: 'shipping' })
  t.match(moved, { status: 200, data: { address_type: 'shipping', is_default: false } })
  t.same(await defaultOf([bills, ships], 'shipping'), only(ships))
  t.same(await defaultOf([bills, ships], 'billing'), none)
  const back = await put(bills, { address_type: 'billing', is_default: true })
  t.match(back, { status: 200, data: { address_type: 'billing', is_default: true } })
  const taken = await put(bills, { address_type: 'shipping', is_default: true })
  t.match(taken, { status: 200, data: { address_type: 'shipping', is_default: true } })
  t.same(await defaultOf([bills, ships], 'shipping'), only(bills))
  const another = await addressOf(ada, { ...billing, is_default: true })
  t.same(await defaultOf([bills, ships, another], 'shipping'), only(bills), 'a billing choice does not affect shipping')
  t.same(await defaultOf([bills, ships, another], 'billing'), only(another))
  t.match(await put(bills, { address_type: 'billing', is_default: false }), { data: { is_default: false } })
})

t.test('20 concurrent requests for the default leave one default of that type', { timeout: 60_000 }, async (t) => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => addressOf(grace)))
  const ships = await addressOf(grace, { ...shipping, is_default: true })
  const responses = await Promise.all(ids.map((id) => put(id, { is_default: true }, grace)))
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
  const { marked, shown } = await defaultOf(ids, 'billing')
  t.equal(shown.length, 1, 'by choice number')
  t.same(marked, shown, 'by is_default')
  const numbers = await Promise.all(ids.map(async (id) => existingAddress(await stateOf(id)).default_choice))
  t.equal(new Set(numbers).size, 20)
  t.match(await stateOf(ships), { is_default: true })
})

t.test(
  'concurrent creations, changes, moves and a removal leave at most one default of each type',
  { timeout: 60_000 },
  async (t) => {
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, index) => addressOf(ada, index % 2 ? billing : shipping)),
    )
    const bodies = [
      { is_default: true },
      { address_type: 'billing', is_default: true },
      { address_type: 'shipping' },
      { is_default: false },
      { address_type: 'shipping', is_default: true },
    ]
    const changes = ids.flatMap((id) => bodies.map((body) => put(id, body)))
    const news = [billing, shipping, billing].map((body) => post({ ...body, is_default: true }))
    const responses = await Promise.all([...changes, ...news, remove(ids[0] ?? '')])
    const statuses = new Set(responses.map(({ status }) => status))
    t.same(
      [...statuses].filter((status) => ![200, 201, 404, 409].includes(status)),
      [],
    )
    const added = responses.filter(({ status }) => status === 201).map(({ data }) => data.id)
    for (const type of ['billing', 'shipping'] as const) {
      const { marked, shown } = await defaultOf([...ids, ...added], type)
      t.ok(shown.length <= 1, `${type}: ${shown.length}`)
      t.same(marked, shown, `${type} by is_default`)
    }
    const [last = ''] = added
    t.equal((await put(last, { address_type: 'billing', is_default: true })).status, 200)
    t.same(await defaultOf([...ids, ...added], 'billing'), only(last))
  },
)

t.test('a request that crashed after its choice changes nothing, and the next one repairs the list', async (t) => {
  for (const next of ['same', 'other'] as const) {
    const former = await addressOf(ada, { ...billing, is_default: true })
    const [id, another] = [await addressOf(ada), await addressOf(ada)]
    await choose(id)
    t.same(await defaultOf([former, id, another], 'billing'), only(former))
    t.match(await put(former, { alias: 'x' }), { data: { is_default: true } })
    const chosen = next === 'same' ? id : another
    t.match(await put(chosen, { is_default: true }), { status: 200, data: { is_default: true } })
    t.same(await defaultOf([former, id, another], 'billing'), only(chosen), next)
  }
})

t.test('after several crashed requests the next choice leaves one default', async (t) => {
  const former = await addressOf(ada, { ...billing, is_default: true })
  const died = await Promise.all(Array.from({ length: 5 }, () => addressOf(ada)))
  for (const id of died) await choose(id)
  const chosen = await addressOf(ada, { ...billing, is_default: true })
  t.same(await defaultOf([former, ...died, chosen], 'billing'), only(chosen))
})

t.test('a request that crashed before clearing the previous default is repaired by the next one', async (t) => {
  for (const next of ['same', 'other', 'former'] as const) {
    const former = await addressOf(ada, { ...billing, is_default: true })
    const [id, another] = [await addressOf(ada), await addressOf(ada)]
    await carry(id, await choose(id))
    t.same((await defaultOf([former, id, another], 'billing')).shown, [id], 'the higher number wins')
    const chosen = { same: id, other: another, former }[next]
    t.match(await put(chosen, { is_default: true }), { status: 200, data: { is_default: true } })
    t.same(await defaultOf([former, id, another], 'billing'), only(chosen), next)
  }
})

t.test(
  'a default that a crashed request did not clear does not return when the new default leaves the list',
  async (t) => {
    const former = await addressOf(ada, { ...billing, is_default: true })
    const id = await addressOf(ada)
    await carry(id, await choose(id))
    t.match(await put(id, { address_type: 'shipping' }), { status: 200, data: { is_default: false } })
    t.same(await defaultOf([former, id], 'billing'), none)
  },
)

t.test('a retry finishes a request for a new default address that crashed', async (t) => {
  const body = { ...billing, is_default: true }
  const started = (key: { 'idempotency-key': string }) => {
    const { id, fingerprint } = requestIdentity(key['idempotency-key'], actor, 'POST /addresses', body)
    return { id, fingerprint }
  }
  const adding = async (address_id: string, request_fingerprint: string | null, default_choice: number) => {
    const content = newContent({ ...billing, address_type: 'billing' })
    const data = { address_id, occurred_at: new Date().toISOString(), user_id: adaId, guest_email: null, ...content }
    await store.handle({
      stream: addressStream(address_id),
      fold: addressFold,
      decide: (state) => addAddress({ ...data, default_choice, request_fingerprint }, state),
      metadata,
    })
  }
  const former = await addressOf(ada, body)
  const afterChoice = freshKey()
  const one = started(afterChoice).id
  await choose(one)
  t.same((await defaultOf([former], 'billing')).shown, [former])
  const first = await post(body, { ...ada, ...afterChoice })
  t.match(first, { status: 201, data: { id: one, is_default: true } })
  t.equal(first.headers['idempotent-replayed'], undefined, 'the first creation')
  t.same(await defaultOf([former, one], 'billing'), only(one))

  const afterAdding = freshKey()
  const two = started(afterAdding)
  await adding(two.id, two.fingerprint, await choose(two.id))
  t.same((await defaultOf([former, one, two.id], 'billing')).shown, [two.id])
  const repeated = await post(body, { ...ada, ...afterAdding })
  t.match(repeated, { status: 201, data: { id: two.id, is_default: true } })
  t.equal(repeated.headers['idempotent-replayed'], 'true')
  t.same(await defaultOf([former, one, two.id], 'billing'), only(two.id))
})

t.test('a replayed request does not replace a default that was chosen since', async (t) => {
  const key = freshKey()
  const body = { ...billing, is_default: true }
  const { data } = await post(body, { ...ada, ...key })
  const since = await addressOf(ada, body)
  const { status, data: replayed } = await recordsNothing(t, () => post(body, { ...ada, ...key }))
  t.match({ status, replayed }, { status: 201, replayed: { id: data.id, is_default: true } }, 'replayed as it was')
  t.same(await defaultOf([data.id, since], 'billing'), only(since))
})

t.test('a rejected request for the default leaves the previous default', async (t) => {
  const former = await addressOf(ada, { ...billing, is_default: true })
  const id = await addressOf(ada)
  const list = defaultChoiceStream('billing_addresses', owner)
  const before = (await store.readStream(list)).length
  const stale = { ...ada, 'if-match': '"7"' }
  const rejected = [
    put(id, { is_default: true }, stale),
    put(id, { is_default: true, city: null }),
    put(id, { is_default: true, name: '4242424242424242' }),
    put(id, { is_default: true }, grace),
  ]
  t.same(
    (await Promise.all(rejected)).map(({ status }) => status),
    [412, 400, 422, 404],
  )
  t.equal((await store.readStream(list)).length, before, 'nothing was chosen')
  t.same(await defaultOf([former, id], 'billing'), only(former))
  await clearPreviousDefaultAddress(workflow, { address_id: id, address_type: 'billing', owner, metadata })
  t.same(await defaultOf([former, id], 'billing'), only(former))
})
