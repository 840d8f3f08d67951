// kill -9 around a commit: before it reaches the database, during it, before its response, and during the replies.

import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { type CommitStage, startDatabaseProxy } from './databaseProxy.ts'
import { runKillCycles, soon } from './killCycles.ts'
import { seed } from './seededRandom.ts'

const cycles = testCycles(4)
const stages: readonly CommitStage[] = ['unsent', 'sent', 'done', 'acknowledged']

t.test(
  `each append is recorded once after ${cycles} kills around a commit, whether or not its reply arrived`,
  async (t) => {
    const { databaseUrl } = await createTestDatabase(t)
    const proxy = await startDatabaseProxy(t, databaseUrl)
    let kills = 0
    const report = await runKillCycles(t, {
      seed,
      cycles,
      writerCounts: { owners: 12, sharers: 3, racers: 3 },
      databaseUrl,
      nodeDatabaseUrl: proxy.databaseUrl,
      arrangeKill({ kill, journal, random }) {
        const stage = stages[kills % stages.length] ?? 'done'
        kills += 1
        // Leaves time for replies: some may be sent after the commit, none before it.
        const act = stage === 'acknowledged' || stage === 'unsent' ? () => soon(random, 3, kill) : kill
        journal.afterAcknowledged(random.between(1, 60), () => proxy.atNextCommit(stage, act))
      },
      successorWaits: false,
    })
    // Includes every commit whose response the server did not get.
    t.ok(
      report.betweenCommitAndReply >= Math.floor(cycles / stages.length),
      'kills happened between commits and their replies',
    )
  },
)
