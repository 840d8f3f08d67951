// How the writer stops, and how it goes on when its session is lost with or without a commit under way.
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

t.test('what waits when the writer stops is written and answered, and nothing that comes later is', async (t) => {
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
  t.equal(reopened(), 0, 'nothing is opened again')
})

t.test('a session that is lost while nothing is written is noticed and replaced', async (t) => {
  const { databaseUrl, writer, append, reopened, outages } = await startWriter(t)
  t.teardown(writer.stop)
  await append('s', expectNoStream)
  await endSession(databaseUrl)
  await waitFor(() => outages() === 1, { what: 'the outage to be noticed' })
  const again = () => append('s', expectAny).catch(() => undefined)
  t.match(await waitFor(again, { what: 'the writer to write again' }), { kind: 'done', revision: 1n })
  t.same([outages(), reopened()], [1, 1])
})

t.test('a commit that happened though its answer was lost is found by who repeats it', async (t) => {
  const { databaseUrl, writer, tail, append, reopened, outages } = await startWriter(t)
  t.teardown(writer.stop)
  await append('s', expectNoStream)
  const before = tail.lastPosition
  const eventId = randomUUID()

  // Does what the writer is about to do and keeps it waiting, so that its commit happens and it never learns.
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
  t.equal(tail.after(before), undefined, 'who follows the log has to read it')
  t.same(await append('s', 1n), { kind: 'done', revision: 2n, position: before + 2n })
  t.equal(tail.after(before + 1n)?.length, 1)
})

t.test('a session that opens when the writer has stopped is closed', async (t) => {
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

t.test('a writer that finds another one in its place gives up at once', async (t) => {
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
  await waitFor(async () => (await queryOnce(databaseUrl, waits)).length > 0, { what: 'the other one to wait' })
  await endSession(databaseUrl)
  await taken
  await other.query('update event_store.writer set epoch = epoch + 1')
  t.type(await failure.promise, WriterReplacedError)
  await t.rejects(append('s', expectAny), WriterUnavailableError)
})
