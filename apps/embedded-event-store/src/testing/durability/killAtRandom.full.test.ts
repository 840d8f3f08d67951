// kill -9 at random moments under load: no acknowledged event is lost, duplicated or partly written.

import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { runKillCycles, soon } from './killCycles.ts'
import { seed } from './seededRandom.ts'

const cycles = testCycles(3)

t.test(`all acknowledged events are recorded once and in order after ${cycles} kills at random moments`, async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  await runKillCycles(t, {
    seed,
    cycles,
    writerCounts: { owners: 12, sharers: 3, racers: 3 },
    databaseUrl,
    nodeDatabaseUrl: databaseUrl,
    arrangeKill({ kill, journal, random }) {
      // From before the first commit after a restart to the middle of a steady load.
      if (random.chance(0.5)) soon(random, 150, kill)
      else journal.afterAcknowledged(random.between(1, 120), kill)
    },
    successorWaits: false,
  })
})
