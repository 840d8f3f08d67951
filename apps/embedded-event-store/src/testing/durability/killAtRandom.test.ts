// kill -9 at random moments under load: nothing acknowledged is lost, nothing is doubled, nothing is half there.

import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { runKillCycles, soon } from './killCycles.ts'
import { seed } from './seededRandom.ts'

const cycles = testCycles(3)

t.test(
  `${cycles} kills at random moments, and each time everything acknowledged is there once and in order`,
  async (t) => {
    const { databaseUrl } = await createTestDatabase(t)
    await runKillCycles(t, {
      seed,
      cycles,
      crew: { owners: 12, sharers: 3, racers: 3 },
      databaseUrl,
      nodeDatabaseUrl: databaseUrl,
      strike({ kill, journal, random }) {
        // From before the first commit after a restart to the middle of a steady load.
        if (random.chance(0.5)) soon(random, 150, kill)
        else journal.afterAcknowledged(random.between(1, 120), kill)
      },
      successorWaits: false,
    })
  },
)
