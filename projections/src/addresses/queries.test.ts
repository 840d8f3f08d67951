import { guestOwner, userOwner } from '@paylog/domain/actor'
import { addressFold, removeAddress } from '@paylog/domain/addresses/address'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { newestFirst } from '../queries/listPage.ts'
import { addAddressTo, createLogFixture, ofGuest, ofUser } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { addresses } from './projection.ts'
import { type AddressesQuery, getAddress, listAddresses } from './queries.ts'

const defaultQuery: AddressesQuery = {
  owner: userOwner('u1'),
  guest_email: undefined,
  address_type: undefined,
  page: 1,
  limit: 50,
  ...newestFirst,
}
const at = (minute: number) => ({ occurred_at: `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z` })

async function ids(pool: Pool, query: Partial<AddressesQuery>): Promise<string[]> {
  const { items } = await listAddresses(pool, { ...defaultQuery, ...query })
  return items.map(({ id }) => id)
}

async function startLog(t: Test) {
  const { pool } = await readModelDatabase(t)
  return { pool, log: createLogFixture() }
}

t.test('addresses: filters narrow the list and its total, newest first', async (t) => {
  const { pool, log } = await startLog(t)
  const billing = addAddressTo(log, at(0))
  const shipping = addAddressTo(log, { ...at(1), address_type: 'shipping', guest_email: 'Contact@Example.com' })
  const newest = addAddressTo(log, at(2))
  const gone = addAddressTo(log, at(3))
  log.record(addressFold, gone, (state) => removeAddress(at(4), state))
  await reapply(pool, addresses, log)
  t.same(await ids(pool, {}), [newest, shipping, billing])
  t.same(await ids(pool, { page: 2, limit: 2 }), [billing])
  t.same(await ids(pool, { address_type: 'billing' }), [newest, billing])
  t.same(await ids(pool, { address_type: 'shipping' }), [shipping])
  t.same(await ids(pool, { guest_email: 'contact@example.COM' }), [shipping])
  t.same(await ids(pool, { guest_email: 'contact@example.COM', address_type: 'billing' }), [])
  t.equal((await listAddresses(pool, { ...defaultQuery, address_type: 'billing', limit: 1 })).total, 2)
  t.equal(await getAddress(pool, { id: gone, owner: defaultQuery.owner }), undefined)
})

t.test('addresses: each owner sees only their own; contact data give no access', async (t) => {
  const { pool, log } = await startLog(t)
  const owned = {
    [userOwner('u1')]: addAddressTo(log, ofUser('u1')),
    [userOwner('u2')]: addAddressTo(log, { ...ofUser('u2'), guest_email: 'g@example.com' }),
    [guestOwner('g@example.com')]: addAddressTo(log, ofGuest('G@Example.com')),
  }
  const ownerless = addAddressTo(log, { user_id: null, guest_email: null })
  await reapply(pool, addresses, log)
  for (const owner of [...Object.keys(owned), guestOwner(''), userOwner('')]) {
    t.same(await ids(pool, { owner }), Object.hasOwn(owned, owner) ? [owned[owner]] : [], owner)
    for (const [other, id] of Object.entries(owned))
      t.equal((await getAddress(pool, { id, owner }))?.item.id, other === owner ? id : undefined)
    t.equal(await getAddress(pool, { id: ownerless, owner }), undefined)
  }
})
