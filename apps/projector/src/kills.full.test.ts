// Projectors killed repeatedly under load.

import { projections } from '@paylog/projections/registry'
import { killUnderLoad, projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { tableStates, verifyAll, waitForAgreement, wrongCheckpoints } from '@paylog/projections/testing/readModelChecks'
import t from 'tap'

t.test('projectors killed under load beside a standby leave correct read models', async (t) => {
  const harness = await projectorHarness(t)
  await killUnderLoad(t, harness, { longestPauseMs: 400 })
  await waitForAgreement(harness)
  for (const { name, differing, live } of await verifyAll(harness))
    t.match({ name, differing, live }, { differing: 0, live: { version: 1 } })
  for (const projection of projections) t.same(await tableStates(harness.pool, projection), ['live'])
  t.same(await wrongCheckpoints(harness.pool), [])
})
