// kill -9 while the next server waits for the lock. It takes over a log whose last commit may be under way.

import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t from 'tap'
import { runKillCycles, soon } from './killCycles.ts'
import { seed } from './seededRandom.ts'

const cycles = testCycles(2)
/** A successor gives up after three seconds. */
const longestWaitMs = 250
const startTimeoutMs = 20_000
const writers = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'embedded-event-store writer'`

t.test(`no event is lost or duplicated in ${cycles} kills with a waiting successor`, async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  t.teardown(() => database.end())
  await runKillCycles(t, {
    seed,
    cycles,
    // Few writers, because they continue at full speed while the successor starts.
    writerCounts: { owners: 5, sharers: 1, racers: 2 },
    databaseUrl,
    nodeDatabaseUrl: databaseUrl,
    async arrangeKill({ kill, random }) {
      const isWaiting = async () => (await database.query(writers)).rowCount === 2
      await waitFor(isWaiting, { what: 'a waiting successor', timeoutMs: startTimeoutMs })
      soon(random, longestWaitMs, kill)
    },
    successorWaits: true,
  })
})
