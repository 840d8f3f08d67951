// The statements on operations.jobs.
import type { Pool } from 'pg'
import type { Job, JobKind, JobProgress } from './job.ts'

/** The age of the last heartbeat from which on a job's process counts as dead. */
const maxSilenceSeconds = 10
/** The number of jobs that are kept. */
const maxKept = 500
/** Each needs up to five connections to Postgres, and reads the log as fast as it can. */
export const maxRunning = 4

type Row = Omit<Job, 'created_at' | 'updated_at' | 'ended_at'> & {
  readonly created_at: Date
  readonly updated_at: Date
  readonly ended_at: Date | null
}

const isSilent = `status = 'running' and updated_at < now() - interval '${maxSilenceSeconds} seconds'`

/** A job whose process died reads as interrupted, and ended with its last heartbeat. */
const columns = `id, kind, subject, is_dry_run, case when ${isSilent} then 'interrupted' else status end as status, requested_by,
  created_at, updated_at, case when ${isSilent} then updated_at else ended_at end as ended_at, progress, result, error`

function toJob({ created_at, updated_at, ended_at, ...row }: Row): Job {
  return {
    ...row,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  }
}

export type NewJob = {
  readonly id: string
  readonly kind: JobKind
  readonly subject: string
  readonly isDryRun: boolean
  readonly requestedBy: string
}

/** @returns undefined when such a job, or the maximum number of jobs, is running */
export async function insertJob(pool: Pool, wanted: NewJob): Promise<Job | undefined> {
  const { id, kind, subject, isDryRun, requestedBy } = wanted
  await pool.query(`update operations.jobs set status = 'interrupted', ended_at = updated_at where ${isSilent}`)
  const { rows } = await pool.query<Row>(
    `insert into operations.jobs (id, kind, subject, is_dry_run, requested_by)
     select $1, $2, $3, $4, $5 where (select count(*) from operations.jobs where status = 'running') < ${maxRunning}
     on conflict (kind, subject) where status = 'running' do nothing
     returning ${columns}`,
    [id, kind, subject, isDryRun, requestedBy],
  )
  if (rows[0] === undefined) return undefined
  await pool.query(
    `delete from operations.jobs where status <> 'running'
     and id not in (select id from operations.jobs order by created_at desc, id desc limit ${maxKept})`,
  )
  return toJob(rows[0])
}

/** @returns the newest first */
export async function listJobs(pool: Pool, limit: number): Promise<Job[]> {
  const { rows } = await pool.query<Row>(
    `select ${columns} from operations.jobs order by created_at desc, id desc limit $1`,
    [limit],
  )
  return rows.map(toJob)
}

export async function readJob(pool: Pool, id: string): Promise<Job | undefined> {
  const { rows } = await pool.query<Row>(`select ${columns} from operations.jobs where id = $1`, [id])
  return rows[0] && toJob(rows[0])
}

/** Its process cancels it with its next heartbeat. A job that has ended stays as it is. */
export async function requestCancellation(pool: Pool, id: string): Promise<Job | undefined> {
  await pool.query(
    `update operations.jobs set cancel_requested_at = coalesce(cancel_requested_at, now())
     where id = $1 and status = 'running'`,
    [id],
  )
  return await readJob(pool, id)
}

/** @returns whether to go on: `lost` when another process has found it silent and given it up */
export async function writeHeartbeat(
  pool: Pool,
  id: string,
  progress: JobProgress | undefined,
): Promise<'continue' | 'cancel' | 'lost'> {
  const { rows } = await pool.query<{ isCanceled: boolean }>(
    `update operations.jobs set updated_at = now(), progress = coalesce($2, progress)
     where id = $1 and status = 'running' returning cancel_requested_at is not null as "isCanceled"`,
    [id, progress],
  )
  if (rows[0] === undefined) return 'lost'
  return rows[0].isCanceled ? 'cancel' : 'continue'
}

export type JobEnd = {
  readonly status: Exclude<Job['status'], 'running'>
  readonly progress?: JobProgress | undefined
  readonly result?: object
  readonly error?: string
}

export async function endJob(pool: Pool, id: string, { status, progress, result, error }: JobEnd): Promise<void> {
  await pool.query(
    `update operations.jobs
     set status = $2, updated_at = now(), ended_at = now(), progress = coalesce($3, progress), result = $4, error = $5
     where id = $1 and status = 'running'`,
    [id, status, progress, result, error],
  )
}
