// Projectors killed repeatedly under load.

import { setTimeout as pause } from 'node:timers/promises'
import { projections } from '@paylog/projections/registry'
import { projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { tableStates, verifyAll, waitForAgreement, wrongCheckpoints } from '@paylog/projections/testing/readModelChecks'
import { createSeededRandom } from '@paylog/projections/testing/seededRandom'
import { startTraffic } from '@paylog/projections/testing/traffic'
import type { TestProcess } from '@paylog/testing/processes'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'

const kills = testCycles(2)

t.test('projectors killed under load beside a standby leave correct read models', async (t) => {
  const harness = await projectorHarness(t)
  const { below } = createSeededRandom(t)
  const traffic = startTraffic(t, harness.store)
  let pair: TestProcess[] = [await harness.startProjector(), await harness.startProjector()]
  for (let round = 0; round < kills; round += 1) {
    // At a random point within a batch.
    await pause(below(400))
    const [first, second] = pair
    await first?.kill('SIGKILL')
    pair = [...(second ? [second] : []), await harness.startProjector()]
  }
  t.ok((await traffic.stop()) > kills, 'events were recorded meanwhile')
  await waitForAgreement(harness)
  for (const { name, differing, live } of await verifyAll(harness))
    t.match({ name, differing, live }, { differing: 0, live: { version: 1 } })
  for (const projection of projections) t.same(await tableStates(harness.pool, projection), ['live'])
  t.same(await wrongCheckpoints(harness.pool), [])
})
