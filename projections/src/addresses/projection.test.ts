import { randomUUID } from 'node:crypto'
import { recordedOwner, userOwner } from '@paylog/domain/actor'
import { addressFold, addressResource, changeAddress, removeAddress } from '@paylog/domain/addresses/address'
import fc from 'fast-check'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { defaults } from '../defaults/projection.ts'
import { readItem, readPage } from '../queries/lists.ts'
import {
  addAddressTo,
  createLogFixture,
  type LogFixture,
  ofGuest,
  ofUser,
  setDefaultIn,
} from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { addresses } from './projection.ts'
import { addressList } from './queries.ts'

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0')))
const type = fc.constantFrom('billing' as const, 'shipping' as const)
/** A user's address may have a guest's e-mail, which is only contact data. */
const owner = fc.constantFrom(ofUser('u1'), { ...ofUser('u2'), guest_email: 'g@example.com' }, ofGuest('G@example.com'))

const content = {
  address_type: type,
  organization_id: text,
  name: text,
  line2: text,
  state: text,
  postal_code: text,
  country: fc.constantFrom('DE', 'US'),
  is_partial: fc.boolean(),
  is_business: fc.boolean(),
  business_name: fc.constant('Business'),
  tax_id: text,
  tax_id_type: text,
  phone: text,
  email: text,
  alias: text,
  guest_name: text,
}

const step = fc.record({
  address: fc.nat(3),
  occurred_at: time,
  operation: fc.oneof(
    fc.record({ kind: fc.constant('change' as const), changes: fc.record(content, { requiredKeys: [] }) }),
    fc.constant({ kind: 'remove' as const }),
  ),
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

const history = fc.record({
  added: fc.array(fc.record({ owner, given: fc.record(content) }), {
    minLength: 1,
    maxLength: 4,
  }),
  steps: fc.array(step, { maxLength: 30, size: 'max' }),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
  repeated: fc.boolean(),
})

function applyStep(log: LogFixture, id: string, { operation, occurred_at }: Step): void {
  log.record(addressFold, id, (state) => {
    if (state.status !== 'kept') return []
    if (operation.kind === 'remove') return removeAddress({ occurred_at }, state)
    return changeAddress({ occurred_at, changes: operation.changes }, state)
  })
}

t.test('addresses: the read model equals the fold of the log, for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  await fc.assert(
    fc.asyncProperty(history, async ({ added, steps, sizes, repeated }) => {
      await pool.query('delete from read_models.addresses_v1')
      const log = createLogFixture()
      const ids = added.map(({ owner, given }) => addAddressTo(log, { ...owner, ...given, address_id: randomUUID() }))
      for (const each of steps) applyStep(log, ids[each.address % ids.length] ?? '', each)
      await reapply(pool, addresses, log, sizes)
      if (repeated) await reapply(pool, addresses, log, sizes.toReversed())
      const states = ids.map((id) => log.stateOf(addressFold, id)).filter((state) => state.status !== 'none')
      for (const state of states) {
        const { address_id: id } = state
        const found = await readItem(pool, addressList, { id, owner: recordedOwner(state) ?? '' })
        t.same(found?.item, state.status === 'kept' ? addressResource(state, false) : undefined)
        const { rows } = await pool.query('select * from read_models.addresses_v1 where id = $1', [id])
        const { revision, is_removed } = rows[0]
        t.equal(revision, log.events.findLast((event) => event.id === id)?.revision)
        t.equal(is_removed, state.status === 'removed')
      }
      return t.passing()
    }),
    { seed: 6, numRuns: 80, endOnFailure: true },
  )
})

const occurred_at = '2026-03-01T10:00:00.000Z'

t.test('the chosen address is the default while it is of the type of the list and not removed', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const [bills, other] = [addAddressTo(log), addAddressTo(log)]
  const ships = addAddressTo(log, { address_type: 'shipping' })
  const list_id = setDefaultIn(log, { list: 'billing_addresses', chosen_id: bills })
  setDefaultIn(log, { list: 'shipping_addresses', chosen_id: ships })
  const defaultIds = async () => {
    await reapply(pool, addresses, log)
    await reapply(pool, defaults, log)
    const { items } = await readPage(pool, addressList, { owner: userOwner('u1'), offset: 0, limit: 50 })
    for (const { id, is_default } of items)
      t.equal((await readItem(pool, addressList, { id, owner: userOwner('u1') }))?.item.is_default, is_default)
    return items.flatMap(({ id, is_default }) => (is_default ? [id] : [])).toSorted()
  }
  t.same(await defaultIds(), [bills, ships].toSorted(), 'each type has its own default')
  setDefaultIn(log, { list_id, list: 'billing_addresses', chosen_id: other })
  t.same(await defaultIds(), [other, ships].toSorted(), 'the last choice counts')
  const change = { occurred_at, changes: { address_type: 'shipping' as const } }
  log.record(addressFold, other, (state) => changeAddress(change, state))
  t.same(await defaultIds(), [ships])
  log.record(addressFold, ships, (state) => removeAddress({ occurred_at }, state))
  t.same(await defaultIds(), [])
  setDefaultIn(log, { list_id, list: 'billing_addresses', chosen_id: bills })
  t.same(await defaultIds(), [bills])
  setDefaultIn(log, { list_id, list: 'billing_addresses', chosen_id: bills, is_default: false })
  t.same(await defaultIds(), [])
})

t.test('changes of one batch become one patch of the changed columns', async (t) => {
  const log = createLogFixture()
  const id = addAddressTo(log, { alias: 'home' })
  for (const changes of [{ line2: 'Rear' }, { address_type: 'shipping' as const, alias: null }])
    log.record(addressFold, id, (state) => changeAddress({ occurred_at, changes }, state))
  const { inserts, patches } = foldBatch(addresses, log.events.slice(1))
  t.same(inserts, [])
  t.same(patches, [
    {
      id,
      revision: 2n,
      values: {
        line2: 'Rear',
        address_type: 'shipping',
        alias: null,
        updated_at: occurred_at,
        key_ids: { [log.events[0]?.sealed.personal?.[0] ?? '']: true },
      },
    },
  ])
})
