import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import type { JobProgress } from './job.ts'
import { createJobs, type JobRun, type Jobs } from './jobs.ts'

const log = createLog({ app: 'test', level: 'silent' })
const { databaseUrl } = await createMigratedDatabase(t)
const pool = createPool({ databaseUrl, applicationName: 'test', max: 4, log })
const jobs = createJobs({ pool, log })
/** As in another process: it shares nothing but the database. */
const elsewhere = createJobs({ pool, log })
const never = new AbortController().signal
t.teardown(async () => {
  await jobs.stop(never)
  await elsewhere.stop(never)
  await pool.end()
})

const rebuildOf = (subject: string) =>
  ({ id: randomUUID(), kind: 'rebuild', subject, isDryRun: false, requestedBy: 'session:1' }) as const

/** Work that goes on until it is stopped. */
const endless = ({ signal }: JobRun) => sleep(3_600_000, {}, { signal })

const ended = (id: string, through: Jobs = jobs) =>
  waitFor(
    async () => {
      const job = await through.get(id)
      return job !== undefined && job.status !== 'running' && job
    },
    { what: 'the end of the job' },
  )

t.test('a job shows its progress while it runs, and its result afterwards', async (t) => {
  const gate = Promise.withResolvers<object>()
  const progress: JobProgress = { step: 'filling', events: 12, position: '4711', head: '9000' }
  const job = await jobs.start(rebuildOf('progress'), ({ onProgress }) => {
    onProgress({ ...progress, events: 11 })
    onProgress(progress)
    return gate.promise
  })
  t.match(job, { kind: 'rebuild', subject: 'progress', status: 'running', requested_by: 'session:1', progress: null })
  const seen = await waitFor(async () => (await elsewhere.get(job.id))?.progress ?? undefined, { what: 'the progress' })
  t.same(seen, progress)
  gate.resolve({ events: 12 })
  const after = await ended(job.id)
  t.match(after, { status: 'succeeded', result: { events: 12 }, progress, error: null })
  t.ok(after.ended_at !== null && after.ended_at > after.created_at)
  t.same(
    (await elsewhere.list(1)).map(({ id }) => id),
    [job.id],
  )
})

t.test('a job whose work fails has the message of the error, without the secrets of a URL in it', async (t) => {
  const job = await jobs.start(rebuildOf('failing'), async () => {
    throw new Error('cannot reach postgres://user:secret@db.example.com:5432/paylog')
  })
  t.match(await ended(job.id), {
    status: 'failed',
    result: null,
    error: 'cannot reach postgres://db.example.com:5432',
  })
})

t.test('while a job runs, the same one is rejected in every process, and others are not', async (t) => {
  const job = await jobs.start(rebuildOf('same'), endless)
  for (const process of [jobs, elsewhere])
    await t.rejects(process.start(rebuildOf('same'), endless), { code: 'job_running', status: 409 })
  const other = await elsewhere.start({ ...rebuildOf('same'), kind: 'verify' }, endless)
  for (const { id } of [job, other]) await jobs.cancel(id)
  await Promise.all([job, other].map(({ id }) => ended(id)))
  t.equal((await jobs.start(rebuildOf('same'), async () => ({}))).status, 'running')
})

t.test('a fifth job is rejected while four run', async (t) => {
  await waitFor(() => jobs.inFlight().length === 0, { what: 'the other jobs to end' })
  const four = await Promise.all(['1', '2', '3', '4'].map((subject) => jobs.start(rebuildOf(subject), endless)))
  await t.rejects(elsewhere.start(rebuildOf('5'), endless), { code: 'job_running' })
  t.same(jobs.inFlight().toSorted(), ['rebuild 1', 'rebuild 2', 'rebuild 3', 'rebuild 4'])
  for (const { id } of four) await jobs.cancel(id)
  await Promise.all(four.map(({ id }) => ended(id)))
})

t.test('a job is canceled from another process within seconds, and canceling it again changes nothing', async (t) => {
  const job = await jobs.start(rebuildOf('canceled'), endless)
  t.match(await elsewhere.cancel(job.id), { id: job.id, status: 'running' })
  const canceled = await ended(job.id)
  t.match(canceled, { status: 'canceled', error: null, result: null })
  t.same(await jobs.cancel(job.id), canceled)
  t.equal(await jobs.cancel('018f0000-0000-7000-8000-000000000000'), undefined)
})

t.test('work that completes although it was canceled has succeeded', async (t) => {
  const job = await jobs.start(rebuildOf('completed'), async ({ signal }) => {
    await waitFor(() => signal.aborted, { what: 'the cancellation' })
    return { done: true }
  })
  await jobs.cancel(job.id)
  t.match(await ended(job.id), { status: 'succeeded', result: { done: true } })
})

t.test('a stop interrupts the jobs of its process only', async (t) => {
  const stopped = createJobs({ pool, log })
  const job = await stopped.start(rebuildOf('stopped'), endless)
  const other = await jobs.start(rebuildOf('going on'), endless)
  await stopped.stop(never)
  t.match(await jobs.get(job.id), { status: 'interrupted', error: null, ended_at: String })
  t.match(await jobs.get(other.id), { status: 'running' })
  await jobs.cancel(other.id)
  await ended(other.id)
})

t.test('a stop leaves work that does not react, and marks its job interrupted', async (t) => {
  const stopped = createJobs({ pool, log })
  const gate = Promise.withResolvers<object>()
  const job = await stopped.start(rebuildOf('deaf'), () => gate.promise)
  const givingUp = new AbortController()
  const stopping = stopped.stop(givingUp.signal)
  givingUp.abort()
  await stopping
  t.match(await jobs.get(job.id), { status: 'interrupted' })
  gate.resolve({})
  await waitFor(() => stopped.inFlight().length === 0, { what: 'the work to end' })
  t.match(await jobs.get(job.id), { status: 'interrupted' })
})

/** The job of another process, whose last heartbeat was this many seconds ago. @returns its id */
async function silentJob(subject: string, seconds: number): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into operations.jobs (kind, subject, requested_by, created_at, updated_at)
     values ('rebuild', $1, 'session:1', now() - interval '1 minute', now() - make_interval(secs => $2)) returning id`,
    [subject, seconds],
  )
  return rows[0]?.id ?? ''
}

t.test('a job whose process was silent for less than ten seconds still runs, and blocks the next one', async (t) => {
  // On a busy machine, the statements take time.
  const id = await silentJob('silent', 8)
  const next = jobs.start(rebuildOf('silent'), async () => ({}))
  await t.rejects(next, { code: 'job_running' })
  t.match(await jobs.get(id), { status: 'running' })
})

t.test('a job whose process died ten seconds ago reads as interrupted, and the next one may start', async (t) => {
  const id = await silentJob('died', 11)
  const died = await jobs.get(id)
  t.match(died, { status: 'interrupted', error: null })
  t.equal(died?.ended_at, died?.updated_at)
  t.match(await jobs.cancel(id), { status: 'interrupted' })
  const next = await jobs.start(rebuildOf('died'), async () => ({}))
  await ended(next.id)
  t.same({ ...(await jobs.get(id)), updated_at: died?.updated_at }, died)
})

t.test('a job that another process has found dead stops with its next heartbeat', async (t) => {
  const job = await jobs.start(rebuildOf('frozen'), endless)
  await pool.query("update operations.jobs set status = 'interrupted', ended_at = now() where id = $1", [job.id])
  await waitFor(() => jobs.inFlight().length === 0, { what: 'the job to stop' })
  t.match(await jobs.get(job.id), { status: 'interrupted' })
})

t.test('the newest 500 jobs are kept', async (t) => {
  await pool.query(
    `insert into operations.jobs (kind, subject, status, requested_by, created_at)
     select 'verify', n::text, 'succeeded', 'session:1', now() - n * interval '1 day' from generate_series(1, 600) as n`,
  )
  const job = await jobs.start(rebuildOf('newest'), async () => ({}))
  await ended(job.id)
  const { rows } = await pool.query<{ count: number }>('select count(*)::int from operations.jobs')
  t.equal(rows[0]?.count, 500)
  t.equal((await jobs.list(1))[0]?.id, job.id)
})
