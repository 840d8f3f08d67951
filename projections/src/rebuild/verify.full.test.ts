// Verification reports no false differences. That it finds wrong rows is tested in repair.full.test.ts of `ops`.

import type { TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { payments } from '../payments/projection.ts'
import { projections } from '../registry.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { rebuildOne, tableStates, verifyAll, verifyOne, waitForAgreement } from '../testing/readModelChecks.ts'
import { createSeededRandom } from '../testing/seededRandom.ts'
import { record, startTraffic } from '../testing/traffic.ts'

const harness = await projectorHarness(t)
const { pool, store } = harness
let projector: TestProcess

t.test('projections without events can be rebuilt and verified', async (t) => {
  t.match(await rebuildOne(harness, payments), { events: 0, version: 2 })
  t.match(await verifyOne(harness, payments), { differing: 0, expected: { rows: 0 } })
  projector = await harness.startProjector()
  await record(store, 4)
  await waitForAgreement(harness)
  const head = await store.head()
  t.match(await rebuildOne(harness, payments), { version: 3, comparison: { differing: 0 } })
  t.same((await verifyOne(harness, payments)).position, head, 'events of other projections are skipped')
})

t.test('verify under load reports no false differences, and cleans up after a killed verification', async (t) => {
  const { oneOf } = createSeededRandom(t)
  const statesOfAll = () => Promise.all(projections.map((projection) => tableStates(pool, projection)))
  const before = await statesOfAll()
  await record(store, 40)
  const traffic = startTraffic(t, store)
  for (let round = 0; round < 2; round += 1) {
    for (const { name, differing, differences } of await verifyAll(harness))
      t.same({ name, differing, differences }, { name, differing: 0, differences: [] })
    const killed = await harness.startReplay('verify', 'payments')
    const phase = oneOf(['phase filling', 'phase comparing'])
    await waitFor(() => killed.output().includes(phase), { what: phase })
    await killed.kill('SIGKILL')
  }
  await traffic.stop()
  t.match(await verifyOne(harness, payments), { differing: 0 })
  t.same(await statesOfAll(), before)
})

t.test(
  'a rebuild fails when the live table was filled from another log, unless its projector has stopped',
  async (t) => {
    await projector.stop()
    const states = await tableStates(pool, payments)
    await pool.query(
      "update read_models.checkpoints set commit_position = 1e15, prepare_position = 1e15 where name like 'payments@%'",
    )
    await t.rejects(rebuildOne(harness, payments), { name: 'LogMismatchError', message: /1000000000000000/ })
    await t.rejects(verifyOne(harness, payments), { name: 'LogMismatchError' })
    t.same(await tableStates(pool, payments), states)
  },
)
