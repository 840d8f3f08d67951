// Whether a verification finds what is wrong, and only that.
import { payments } from '@paylog/projections/payments/projection'
import { products } from '@paylog/projections/products/projection'
import { projections } from '@paylog/projections/registry'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startHouse } from '../testHouse.ts'
import { tableStates, waitForAgreement } from '../testing/agreement.ts'
import { createChance } from '../testing/chance.ts'
import { record, startTraffic } from '../testing/traffic.ts'
import { rebuildOne, verifyAll, verifyOne } from '../testing/verifying.ts'

t.test('rows that somebody has tampered with are found, and a rebuild puts them right', async (t) => {
  const house = await startHouse(t)
  const { pool, store } = house
  const projector = await house.startProjector()
  await record(store, 16)
  await waitForAgreement(house)
  await projector.stop()
  const { rows } = await pool.query<{ id: string }>('select id from read_models.payments order by id')
  const [changed = '', removed = '', copied = ''] = rows.map(({ id }) => id)
  const added = '00000000-0000-4000-8000-000000000000'
  await pool.query(`update read_models.payments_v1 set total_cents = 1, status = 'failed' where id = '${changed}';
    delete from read_models.payments_v1 where id = '${removed}';
    create temporary table copy as select * from read_models.payments_v1 where id = '${copied}';
    update copy set id = '${added}';
    insert into read_models.payments_v1 select * from copy; drop table copy;
    delete from read_models.products_v1`)
  const columns = [
    { column: 'total_cents', found: 1, expected: 1000 },
    { column: 'status', found: 'failed', expected: 'succeeded' },
  ]
  const differences = [
    { id: added, kind: 'extra' },
    { id: changed, kind: 'different', columns },
    { id: removed, kind: 'missing' },
  ]
  const verified = await verifyOne(house, payments)
  t.same(verified.differences, differences)
  t.match(verified, { differing: 3, live: { version: 1, rows: rows.length }, expected: { rows: rows.length } })
  t.match(await verifyOne(house, products), { differing: 4, live: { rows: 0 }, expected: { rows: 4 } })
  t.same(await tableStates(pool, payments), ['live'], 'and nothing is left of it')

  t.same((await rebuildOne(house, payments)).differences, differences, 'a rebuild tells as much')
  t.match(await verifyOne(house, payments), { differing: 0, differences: [] })
})

t.test(
  'a verification has no false alarm under load, and one that was killed is cleared away by the next',
  async (t) => {
    const house = await startHouse(t)
    const { oneOf } = createChance(t)
    await house.startProjector()
    await record(house.store, 50)
    const traffic = startTraffic(house.store)
    for (let round = 0; round < 2; round += 1) {
      for (const { name, differing, differences } of await verifyAll(house))
        t.same({ name, differing, differences }, { name, differing: 0, differences: [] })
      const killed = await house.startReplay('verify', 'payments')
      const phase = oneOf(['phase filling', 'phase comparing'])
      await waitFor(() => killed.output().includes(phase), { what: phase })
      await killed.kill('SIGKILL')
    }
    await traffic.stop()
    t.match(await verifyOne(house, payments), { differing: 0 })
    for (const projection of projections) t.same(await tableStates(house.pool, projection), ['live'])
  },
)

t.test('an empty log, and one that only others write to, can be rebuilt and verified', async (t) => {
  const house = await startHouse(t)
  t.match(await rebuildOne(house, payments), { events: 0, version: 2 })
  t.match(await verifyOne(house, payments), { differing: 0, expected: { rows: 0 } })
  const projector = await house.startProjector()
  await record(house.store, 4)
  await waitForAgreement(house)
  await projector.stop()
  const head = await house.store.head()
  t.match(await rebuildOne(house, payments), { version: 3, comparison: { differing: 0 } })
  t.same((await verifyOne(house, payments)).position, head, 'it has passed over what is for others')
})

t.test('a live table that has read further than the log goes is not replaced by an older one', async (t) => {
  const house = await startHouse(t)
  const projector = await house.startProjector()
  await house.pay()
  await house.projected(1)
  await projector.stop()
  await house.pool.query(
    "update read_models.checkpoints set commit_position = 1e15, prepare_position = 1e15 where name = 'payments@1'",
  )
  await t.rejects(rebuildOne(house, payments), { name: 'LogEndsError', message: /1000000000000000/ })
  await t.rejects(verifyOne(house, payments), { name: 'LogEndsError' })
  t.same(await tableStates(house.pool, payments), ['live'])
})
