import { userOwner } from '@paylog/domain/actor'
import { addressFold, changeAddress, removeAddress } from '@paylog/domain/addresses/address'
import { addressList } from '@paylog/queries/addresses/queries'
import { readItem, readPage } from '@paylog/queries/lists/lists'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { defaults } from '../defaults/projection.ts'
import { addAddressTo, createLogFixture, setDefaultIn } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { addresses } from './projection.ts'

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
