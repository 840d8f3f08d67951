import { guestOwner, ownerOf, userOwner } from '@paylog/domain/actor'
import { addAddress, addressFold } from '@paylog/domain/addresses/address'
import { emptyAddressContent } from '@paylog/domain/addresses/events'
import { noRights } from '@paylog/domain/rights'
import { addressStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { requestIdentity } from '../request/requestIdentity.ts'
import { addressesHarness, billing, shipping } from '../testing/addressesHarness.ts'
import { ada, adaId, freshKey, grace, graceId, guest, guestEmail } from '../testing/commandApiHarness.ts'

const { post, put, remove, addressOf, eventsOf, defaultOf, store, recordsNothing } = await addressesHarness(t)

const actor = { kind: 'session', user_id: adaId, user_type: 'user', user_email: null, ...noRights } as const
const owner = ownerOf(actor)
const metadata = { correlationId: 'test', causationId: 'test', actor: 'worker' }
const asDefault = { ...billing, is_default: true }

t.test('an address becomes the default only with is_default, and then replaces the previous one', async (t) => {
  const graces = userOwner(graceId)
  const plain = await addressOf(grace)
  t.equal(await defaultOf(graces, 'billing'), undefined)
  await addressOf(grace, asDefault)
  const second = await addressOf(grace, asDefault)
  t.equal(await defaultOf(graces, 'billing'), second)
  t.match(await put(plain, { is_default: true, alias: 'x' }, grace), {
    status: 200,
    data: { is_default: true, alias: 'x' },
  })
  t.equal(await defaultOf(graces, 'billing'), plain)
  t.match(await put(second, { alias: 'y' }, grace), { status: 200, data: { is_default: false } })
})

t.test('changing the default is one append, and leaves the streams of the addresses as they are', async (t) => {
  const former = await addressOf(ada, asDefault)
  const id = await addressOf(ada)
  const { status, headers } = await put(id, { is_default: true }, { ...ada, 'if-match': '"0"' })
  t.same({ status, etag: headers.etag }, { status: 200, etag: '"0"' })
  for (const each of [former, id]) t.equal((await eventsOf(each)).length, 1)
})

t.test('each owner has one default for billing and one for shipping [10.3-address-defaults]', async (t) => {
  const ships = await addressOf(ada, { ...shipping, is_default: true })
  const theirs = await addressOf(guest, asDefault)
  const others = await addressOf(grace, { ...shipping, is_default: true })
  const bills = await addressOf(ada, asDefault)
  t.equal(await defaultOf(owner, 'billing'), bills)
  t.equal(await defaultOf(owner, 'shipping'), ships)
  t.equal(await defaultOf(guestOwner(guestEmail), 'billing'), theirs)
  t.equal(await defaultOf(userOwner(graceId), 'shipping'), others)
})

t.test('of addresses created concurrently as default one is the default', async (t) => {
  const ids = await Promise.all(Array.from({ length: 16 }, () => addressOf(guest, asDefault)))
  t.ok(ids.includes((await defaultOf(guestOwner(guestEmail), 'billing')) ?? ''))
})

t.test('clearing or removing the default leaves the owner without one', async (t) => {
  const first = await addressOf(ada, asDefault)
  const second = await addressOf(ada, asDefault)
  t.match(await put(first, { is_default: false }), { status: 200, data: { is_default: false } })
  t.equal(await defaultOf(owner, 'billing'), second, 'clearing another address changes nothing')
  t.match(await put(second, { is_default: false }), { status: 200, data: { is_default: false } })
  t.equal(await defaultOf(owner, 'billing'), undefined, 'the previous default does not return')
  t.match(await put(second, { is_default: true }), { status: 200, data: { is_default: true } })
  t.equal(await defaultOf(owner, 'billing'), second, 'it can be chosen again')
  await remove(second)
  t.equal(await defaultOf(owner, 'billing'), undefined)
  await put(first, { is_default: true })
  t.equal(await defaultOf(owner, 'billing'), first)
})

t.test('an address whose type changes is not the default, unless is_default is true', async (t) => {
  const bills = await addressOf(ada, asDefault)
  const ships = await addressOf(ada, { ...shipping, is_default: true })
  const moved = await put(bills, { address_type: 'shipping' })
  t.match(moved, { status: 200, data: { address_type: 'shipping', is_default: false } })
  t.equal(await defaultOf(owner, 'shipping'), ships)
  t.equal(await defaultOf(owner, 'billing'), undefined)
  t.match(await put(bills, { address_type: 'billing' }), { status: 200, data: { is_default: false } })
  t.equal(await defaultOf(owner, 'billing'), undefined, 'it does not become the default by coming back')
  const taken = await put(bills, { address_type: 'shipping', is_default: true })
  t.match(taken, { status: 200, data: { address_type: 'shipping', is_default: true } })
  t.equal(await defaultOf(owner, 'shipping'), bills)
  const another = await addressOf(ada, asDefault)
  t.equal(await defaultOf(owner, 'shipping'), bills, 'a billing choice does not affect shipping')
  t.equal(await defaultOf(owner, 'billing'), another)
  t.match(await put(bills, { address_type: 'billing', is_default: false }), { data: { is_default: false } })
  t.equal(await defaultOf(owner, 'billing'), another)
})

t.test('a retry finishes a request for a new default address that crashed after adding it', async (t) => {
  await addressOf(ada, asDefault)
  const key = freshKey()
  const { id, fingerprint } = requestIdentity(store.hash, key['idempotency-key'], actor, 'POST /addresses', asDefault)
  const content = { ...emptyAddressContent, ...billing, address_type: 'billing' } as const
  const facts = { occurred_at: new Date().toISOString(), user_id: adaId, guest_email: null, is_default: true }
  await store.handle({
    stream: addressStream(id),
    fold: addressFold,
    decide: (state) => addAddress({ address_id: id, ...facts, ...content, request_fingerprint: fingerprint }, state),
    metadata,
  })
  const repeated = await post(asDefault, { ...ada, ...key })
  t.match(repeated, { status: 201, data: { id, is_default: true } })
  t.equal(repeated.headers['idempotent-replayed'], 'true')
  t.equal(await defaultOf(owner, 'billing'), id)
})

t.test('a replayed request does not replace a default that was chosen or cleared since', async (t) => {
  for (const since of ['chosen', 'cleared'] as const) {
    const key = { ...ada, ...freshKey() }
    const { data } = await post(asDefault, key)
    const next = since === 'chosen' ? await addressOf(ada, asDefault) : undefined
    if (since === 'cleared') await put(data.id, { is_default: false })
    const { status, data: replayed } = await recordsNothing(t, () => post(asDefault, key))
    t.match({ status, replayed }, { status: 201, replayed: { id: data.id, is_default: true } }, 'replayed as it was')
    t.equal(await defaultOf(owner, 'billing'), next, since)
  }
})
