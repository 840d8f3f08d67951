// Projectors that are killed in the middle of their work, again and again.

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

t.test('projectors that are killed under load, beside one that stands by, leave the read models right', async (t) => {
  const house = await projectorHarness(t)
  const { below } = createSeededRandom(t)
  const traffic = startTraffic(t, house.store)
  let pair: TestProcess[] = [await house.startProjector(), await house.startProjector()]
  for (let round = 0; round < kills; round += 1) {
    // Somewhere within some batches.
    await pause(below(400))
    const [first, second] = pair
    await first?.kill('SIGKILL')
    pair = [...(second ? [second] : []), await house.startProjector()]
  }
  t.ok((await traffic.stop()) > kills, 'there was something to do meanwhile')
  await waitForAgreement(house)
  for (const { name, differing, live } of await verifyAll(house))
    t.match({ name, differing, live }, { differing: 0, live: { version: 1 } })
  for (const projection of projections) t.same(await tableStates(house.pool, projection), ['live'])
  t.same(await wrongCheckpoints(house.pool), [])
})
