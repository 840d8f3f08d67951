// kill -9 around the commit: before it reaches the database, as it does, when it is done and nobody knows, and while clients are told.

import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { type CommitStage, startDatabaseProxy } from './databaseProxy.ts'
import { runKillCycles, soon } from './killCycles.ts'
import { seed } from './seededRandom.ts'

const cycles = testCycles(4)
const stages: readonly CommitStage[] = ['held', 'sent', 'done', 'answered']

t.test(
  `${cycles} kills around a commit, and each append is there once, whether its answer arrived or not`,
  async (t) => {
    const { databaseUrl } = await createTestDatabase(t)
    const proxy = await startDatabaseProxy(t, databaseUrl)
    let kills = 0
    const report = await runKillCycles(t, {
      seed,
      cycles,
      crew: { owners: 12, sharers: 3, racers: 3 },
      databaseUrl,
      nodeDatabaseUrl: proxy.databaseUrl,
      strike({ kill, journal, random }) {
        const stage = stages[kills % stages.length] ?? 'done'
        kills += 1
        // Time for answers to get out: after the commit some of them do, before it none may.
        const act = stage === 'answered' || stage === 'held' ? () => soon(random, 3, kill) : kill
        journal.afterAcknowledged(random.between(1, 60), () => proxy.atNextCommit(stage, act))
      },
      successorWaits: false,
    })
    // Every commit that was done and kept from the server is one of these; the others may be.
    t.ok(
      report.betweenCommitAndAnswer >= Math.floor(cycles / stages.length),
      'kills fell between commits and their answers',
    )
  },
)
