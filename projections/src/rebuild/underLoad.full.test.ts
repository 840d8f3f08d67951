// Rebuilds while events are recorded and clients read.

import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { payments } from '../payments/projection.ts'
import { projections } from '../registry.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { startReaders } from '../testing/readers.ts'
import { rebuildOne, tableStates, waitForAgreement, wrongCheckpoints } from '../testing/readModelChecks.ts'
import { record, startTraffic } from '../testing/traffic.ts'

const log = createLog({ app: 'test', level: 'silent' })
const harness = await projectorHarness(t)
const { pool, store, databaseUrl } = harness
const projector = await harness.startProjector()
// More events than a rebuild applies while the projector waits.
await record(store, 180)

t.test('rebuilds under load never show wrong data to readers, and the projector follows each switch', async (t) => {
  await waitForAgreement(harness, [payments])
  const readers = startReaders(t, databaseUrl, 2)
  const traffic = startTraffic(t, store)
  // Rebuilds one projection twice: the second one replaces a rebuilt table.
  for (const [round, list] of [projections, [payments]].entries()) {
    for (const projection of list) {
      const { version, replaced, comparison, differences } = await rebuildOne(harness, projection)
      t.same({ version, replaced: replaced?.version }, { version: round + 2, replaced: round + 1 })
      t.match(comparison, { differing: 0, live: { version: round + 1 } })
      t.same(differences, [])
    }
  }
  await traffic.stop()
  const { wrong, reads, longestMs } = await readers.stop()
  t.same(wrong.slice(0, 10), [], 'readers saw no wrong data')
  t.ok(reads > 40, `${reads} reads, the longest took ${Math.round(longestMs)} ms`)
  await waitForAgreement(harness)
  for (const projection of projections) {
    const retired = projection === payments ? ['retired', 'retired'] : ['retired']
    t.same(await tableStates(pool, projection), [...retired, 'live'])
  }
  t.same(await wrongCheckpoints(pool), [])
})

t.test('an idle projector follows a switch with the next event', async (t) => {
  const switches = () => projector.output().split('stopped applying events to the table').length
  const before = switches()
  await rebuildOne(harness, payments)
  await harness.pay()
  await waitFor(() => switches() > before, { what: 'the projector to notice' })
  await waitForAgreement(harness, [payments])
  t.pass('the next event is in the new table')
})

t.test('concurrent rebuilds of all projections do not disturb each other', async (t) => {
  const before = await tableStates(pool, payments)
  const traffic = startTraffic(t, store)
  const readers = startReaders(t, databaseUrl, 2)
  const all = [...projections, payments].map(async (projection) => {
    const own = createPool({ databaseUrl, applicationName: 'replay', max: 3, log })
    const rebuilt = await rebuildOne({ databaseUrl, pool: own, store }, projection).finally(() => own.end())
    return rebuilt.comparison
  })
  for (const comparison of await Promise.all(all)) t.match(comparison, { differing: 0 })
  await traffic.stop()
  t.same((await readers.stop()).wrong.slice(0, 10), [])
  t.same(await tableStates(pool, payments), ['retired', 'retired', ...before])
  await waitForAgreement(harness)
})
