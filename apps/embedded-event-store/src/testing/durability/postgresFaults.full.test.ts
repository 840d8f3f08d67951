// The database disconnected, killed and restarted under load: the server recovers by itself with a correct log.

import { randomInt } from 'node:crypto'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { batchRequest, connectRaw } from '../rawStreams.ts'
import { type CommitStage, startDatabaseProxy } from './databaseProxy.ts'
import { type LoadedServer, startLoadedServer } from './loadedServer.ts'
import { queryOnce, startPrivatePostgres } from './privatePostgres.ts'
import { seed } from './seededRandom.ts'

const stages: readonly CommitStage[] = ['unsent', 'sent', 'done']
const writerCounts = { owners: 12, sharers: 3, racers: 3 }
const recoveryTimeoutMs = 30_000
const unavailable = 14

/** A batch stream with one completed append, and its error. */
async function openBatchStream(
  t: Test,
  port: number,
): Promise<{ readonly failure: () => number | string | undefined }> {
  const call = connectRaw(t, port).batchAppend()
  const settled = Promise.withResolvers<void>()
  let failure: number | string | undefined
  call.on('data', () => settled.resolve())
  call.on('end', () => {
    failure ??= 'ended normally'
  })
  call.on('error', ({ code }: { readonly code?: number }) => {
    failure = code
    settled.resolve()
  })
  call.write(batchRequest({ stream: `$idle-${randomInt(2 ** 31)}`, events: [] }))
  await settled.promise
  return { failure: () => failure }
}

/** Asserts that the same process serves again by itself. */
async function assertRecovers(
  t: Test,
  { node, journal, check }: LoadedServer,
  fault: () => Promise<void>,
): Promise<void> {
  const { pid } = node.process()
  const stream = await openBatchStream(t, node.port)
  await fault()
  const status = await waitFor(stream.failure, { what: 'an open batch stream to fail' })
  t.equal(status, unavailable, 'an open batch stream fails with UNAVAILABLE')
  const before = journal.acknowledged
  await waitFor(() => journal.acknowledged > before + 20, {
    what: 'appends after the fault',
    timeoutMs: recoveryTimeoutMs,
  })
  t.equal(node.process().pid, pid)
  t.same(await check(), [], `the log is right after the fault (seed ${seed})`)
}

t.test('no event is lost or duplicated when the writer is disconnected from its database around commits', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const proxy = await startDatabaseProxy(t, databaseUrl)
  const loaded = await startLoadedServer(t, { seed, writerCounts, databaseUrl, nodeDatabaseUrl: proxy.databaseUrl })
  for (let round = 0; round < testCycles(stages.length); round += 1) {
    const stage = stages[round % stages.length] ?? 'done'
    // The session of the writer alone, or those of the readers too.
    const victims = round % 2 === 0 ? 'embedded-event-store writer' : 'embedded-event-store%'
    await assertRecovers(t, loaded, async () => {
      const reached = Promise.withResolvers<void>()
      const later = loaded.random.between(1, 60)
      loaded.journal.afterAcknowledged(later, () => proxy.atNextCommit(stage, reached.resolve))
      await reached.promise
      const text = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like $1`
      await queryOnce(databaseUrl, text, [victims])
    })
  }
  await loaded.finish()
})

t.test('no acknowledged event is lost or duplicated when Postgres crashes under load', async (t) => {
  const postgres = await startPrivatePostgres(t)
  const { databaseUrl } = postgres
  const loaded = await startLoadedServer(t, { seed, writerCounts, databaseUrl, nodeDatabaseUrl: databaseUrl })
  const writerBackend = `select pid from pg_stat_activity where application_name = 'embedded-event-store writer'`
  for (let round = 0; round < testCycles(2); round += 1) {
    await assertRecovers(t, loaded, async () => {
      const reached = Promise.withResolvers<void>()
      loaded.journal.afterAcknowledged(loaded.random.between(1, 100), reached.resolve)
      if (round % 2 === 0) {
        // Queried before the kill, because opening a connection takes time.
        const [writer] = await queryOnce(databaseUrl, writerBackend)
        await reached.promise
        // One killed backend makes Postgres end all others and recover from its log.
        process.kill(Number(writer?.pid), 'SIGKILL')
      } else {
        await reached.promise
        await postgres.crash()
        await postgres.restart()
      }
    })
  }
  await loaded.finish()
})
