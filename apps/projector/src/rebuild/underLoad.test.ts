// Rebuilds while commands keep coming and clients keep reading.
import { payments } from '@paylog/projections/payments/projection'
import { projections } from '@paylog/projections/registry'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { startHouse } from '../testHouse.ts'
import { tableStates, waitForAgreement, wrongCheckpoints } from '../testing/agreement.ts'
import { startReaders } from '../testing/readers.ts'
import { record, startTraffic } from '../testing/traffic.ts'
import { rebuildOne } from '../testing/verifying.ts'

t.test('rebuilds under load show readers nothing but what is so, and the projector follows each of them', async (t) => {
  const house = await startHouse(t)
  const { pool, store, databaseUrl } = house
  await house.startProjector()
  await record(store, 300)
  await waitForAgreement(house, [payments])
  const readers = startReaders(databaseUrl, 3)
  const traffic = startTraffic(store)
  const rounds = 2
  for (let round = 1; round <= rounds; round += 1) {
    for (const projection of projections) {
      const { version, replaced, comparison, differences } = await rebuildOne(house, projection)
      t.same({ version, replaced: replaced?.version }, { version: round + 1, replaced: round })
      t.match(comparison, { differing: 0, live: { version: round } })
      t.same(differences, [])
    }
  }
  await traffic.stop()
  const { wrong, looks, longestMs } = await readers.stop()
  t.same(wrong.slice(0, 10), [], 'no reader ever saw anything wrong')
  t.ok(looks > 100, `${looks} looks, the longest took ${Math.round(longestMs)} ms`)
  await waitForAgreement(house)
  for (const projection of projections) {
    t.same(await tableStates(pool, projection), [...Array(rounds).fill('retired'), 'live'])
  }
  t.same(await wrongCheckpoints(pool), [])
})

t.test('a projector follows a switch within a moment, though it was idle', async (t) => {
  const house = await startHouse(t)
  const projector = await house.startProjector()
  await house.pay()
  await house.projected(1)
  await rebuildOne(house, payments)
  await house.pay()
  await waitFor(() => projector.output().includes('the table is left'), { what: 'the projector to notice' })
  await house.projected(2)
  t.pass('and what comes then is there')
})

t.test("rebuilds of everything at once, and of one twice, do not come into each other's way", async (t) => {
  const house = await startHouse(t)
  await house.startProjector()
  await record(house.store, 100)
  const traffic = startTraffic(house.store)
  const readers = startReaders(house.databaseUrl, 2)
  const all = await Promise.all([...projections, payments].map(({ name }) => house.startReplay('rebuild', name)))
  await Promise.all(all.map(({ exited }) => exited))
  for (const replay of all) t.match(replay.output(), /^done$/m)
  await traffic.stop()
  t.same((await readers.stop()).wrong.slice(0, 10), [])
  t.same(await tableStates(house.pool, payments), ['retired', 'retired', 'live'])
  await waitForAgreement(house)
})
