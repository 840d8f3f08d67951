// The settings of the writer's connection, and the writer lock.
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import { queryOnce } from '../testing/durability/privatePostgres.ts'
import { startWriter } from '../testing/writerHarness.ts'
import { lockWriter, WriterLockedError } from './writerSession.ts'

const log = createLog({ app: 'embedded-event-store', level: 'silent' })
const { signal } = new AbortController()

t.test('the writer sets synchronous_commit even if the database disables it', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const database = new URL(databaseUrl).pathname.slice(1)
  await queryOnce(databaseUrl, `alter database ${database} set synchronous_commit = off`)
  t.same(await queryOnce(databaseUrl, 'show synchronous_commit'), [{ synchronous_commit: 'off' }])
  const { writer, db } = await startWriter(t, { databaseUrl })
  t.teardown(writer.stop)
  t.same((await db.query('show synchronous_commit')).rows, [{ synchronous_commit: 'on' }])
})

t.test('the writer uses no sequential scans', async (t) => {
  const { writer, db } = await startWriter(t)
  t.teardown(writer.stop)
  t.same((await db.query('show enable_seqscan')).rows, [{ enable_seqscan: 'off' }])
})

t.test('the writer lock has one holder and is released with its session', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const lock = () => lockWriter({ databaseUrl, timeoutMs: 0, ownEpoch: undefined, signal, log })
  const first = await lock()
  await t.rejects(lock(), WriterLockedError)
  await first.close()
  const second = await lock()
  await second.close()
})

t.test('a writer that lost its lock to another one cannot commit and gets WriterReplacedError', async (t) => {
  const { databaseUrl, db, tail, writer, append } = await startWriter(t, { fail: () => undefined })
  t.teardown(writer.stop)
  t.match(await append('s', -1n), { kind: 'done', revision: 0n })
  await db.query('select pg_advisory_unlock_all()')
  const locked = await lockWriter({ databaseUrl, timeoutMs: 0, ownEpoch: undefined, signal, log })
  const session = await locked.beWriter()
  t.teardown(session.close)
  t.equal(session.lastPosition, tail.lastPosition)
  await t.rejects(append('s', 0n))
  t.same(await queryOnce(databaseUrl, `select revision from event_store.events where stream = 's'`), [
    { revision: '0' },
  ])
})
