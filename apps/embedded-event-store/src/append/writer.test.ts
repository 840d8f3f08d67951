// How the writer stops, and how it recovers from a lost session with or without a running commit.
import { randomUUID } from 'node:crypto'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t from 'tap'
import { WriterReplacedError } from '../storage/writerSession.ts'
import { blockCommits } from '../testing/blockedCommits.ts'
import { queryOnce } from '../testing/durability/privatePostgres.ts'
import { startWriter } from '../testing/writerHarness.ts'
import { WriterUnavailableError } from './intake.ts'
import { expectAny, expectNoStream } from './proposal.ts'

const ofWriter = `from pg_stat_activity
  where datname = current_database() and application_name = 'embedded-event-store writer'`
const endSession = (databaseUrl: string) => queryOnce(databaseUrl, `select pg_terminate_backend(pid) ${ofWriter}`)

t.test('a stopping writer finishes waiting appends and rejects later ones', async (t) => {
  const { databaseUrl, writer, append, reopened } = await startWriter(t)
  const waiting = [append('s', expectNoStream), append('s', 0n), append('s', 1n)]
  const stopped = writer.stop()
  await t.rejects(append('s', expectAny), WriterUnavailableError)
  t.match(await Promise.all(waiting), [
    { kind: 'done', revision: 0n },
    { kind: 'done', revision: 1n },
    { kind: 'done', revision: 2n },
  ])
  await stopped
  await t.rejects(append('s', expectAny), WriterUnavailableError)
  const written = await queryOnce(databaseUrl, `select revision from event_store.events where stream = 's'`)
  t.equal(written.length, 3)
  const gone = async () => (await queryOnce(databaseUrl, `select pid ${ofWriter}`)).length === 0
  await waitFor(gone, { what: 'the session to be closed' })
  t.equal(reopened(), 0, 'no new session')
})

t.test('a session that is lost while the writer is idle is replaced', async (t) => {
  const { databaseUrl, writer, append, reopened, outages } = await startWriter(t)
  t.teardown(writer.stop)
  await append('s', expectNoStream)
  await endSession(databaseUrl)
  await waitFor(() => outages() === 1, { what: 'the outage to be noticed' })
  const again = () => append('s', expectAny).catch(() => undefined)
  t.match(await waitFor(again, { what: 'the writer to write again' }), { kind: 'done', revision: 1n })
  t.same([outages(), reopened()], [1, 1])
})

t.test('a repeated append finds a commit whose response was lost', async (t) => {
  const { databaseUrl, writer, tail, append, reopened, outages } = await startWriter(t)
  t.teardown(writer.stop)
  await append('s', expectNoStream)
  const before = tail.lastPosition
  const eventId = randomUUID()

  // Blocks the writer's commit, so that it succeeds after the session is lost.
  const commits = await blockCommits(t, databaseUrl)
  await commits.query('update event_store.writer set last_position = last_position + 1', [])
  const inDoubt = append('s', 0n, eventId).catch((error: unknown) => error)
  await commits.untilOneWaits()
  const behind = append('t', expectNoStream).catch((error: unknown) => error)
  await endSession(databaseUrl)
  t.type(await inDoubt, WriterUnavailableError)
  t.type(await behind, WriterUnavailableError)
  await commits.query(
    `insert into event_store.events (position, stream, revision, event_id, type, is_json, created_ticks, metadata, data)
     values ($1, 's', 1, $2, 'T', false, 0, '', '')`,
    [before + 1n, eventId],
  )
  await commits.letGo()

  const again = () => append('s', 0n, eventId).catch(() => undefined)
  const repeated = await waitFor(again, { what: 'the writer to write again' })
  t.same(repeated, { kind: 'done', revision: 1n, position: before + 1n })
  t.same([outages(), reopened()], [1, 1])
  t.equal(tail.after(before), undefined, 'followers must read it from the database')
  t.same(await append('s', 1n), { kind: 'done', revision: 2n, position: before + 2n })
  t.equal(tail.after(before + 1n)?.length, 1)
})

t.test('a session that opens after the writer has stopped is closed', async (t) => {
  const { databaseUrl, writer, append, outages, reopened } = await startWriter(t)
  await append('s', expectNoStream)
  const commits = await blockCommits(t, databaseUrl)
  await endSession(databaseUrl)
  await waitFor(() => outages() === 1, { what: 'the outage to be noticed' })
  await commits.untilOneWaits()
  await writer.stop()
  await commits.letGo()
  const gone = async () => (await queryOnce(databaseUrl, `select pid ${ofWriter}`)).length === 0
  await waitFor(gone, { what: 'the session to be closed' })
  t.equal(reopened(), 1)
  await t.rejects(append('s', expectAny), WriterUnavailableError)
})

t.test('a writer that was replaced by another one fails at once', async (t) => {
  const failure = Promise.withResolvers<unknown>()
  const { databaseUrl, writer, append } = await startWriter(t, { fail: failure.resolve })
  t.teardown(writer.stop)
  await append('s', expectNoStream)
  const other = new pg.Client({ connectionString: databaseUrl })
  await other.connect()
  t.teardown(() => other.end())
  // Waits for the lock, and has it as soon as the session is gone.
  const taken = other.query(`select pg_advisory_lock(hashtextextended('event_store writer', 0))`)
  const waits = `select pid from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`
  await waitFor(async () => (await queryOnce(databaseUrl, waits)).length > 0, { what: 'the other writer to wait' })
  await endSession(databaseUrl)
  await taken
  await other.query('update event_store.writer set epoch = epoch + 1')
  t.type(await failure.promise, WriterReplacedError)
  await t.rejects(append('s', expectAny), WriterUnavailableError)
})
