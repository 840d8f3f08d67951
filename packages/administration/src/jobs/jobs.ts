// Runs jobs in this process, and reports them in Postgres, where every process can list and cancel them.
import { setTimeout as sleep } from 'node:timers/promises'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { databaseAdvice } from '@paylog/runtime/postgres/databaseErrors'
import { type Logger, withoutUrlSecrets } from '@paylog/runtime/telemetry/log'
import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import type { Job, JobProgress } from './job.ts'
import {
  endJob,
  insertJob,
  type JobEnd,
  listJobs,
  maxRunning,
  type NewJob,
  readJob,
  requestCancellation,
  writeHeartbeat,
} from './jobRows.ts'

/** A job that a request starts has its id, as the entry of the audit trail has. */
export const requestedJob = (
  { id, actor }: Pick<FastifyRequest, 'id' | 'actor'>,
  { isDryRun = false, ...wanted }: Pick<NewJob, 'kind' | 'subject'> & Partial<Pick<NewJob, 'isDryRun'>>,
): NewJob => ({ id, ...wanted, isDryRun, requestedBy: actorName(actor) })

export type JobRun = {
  /** Aborts when the job is canceled, and when this process stops. The work must then reject, and leave nothing half done. */
  readonly signal: AbortSignal
  /** May be called as often as wanted. */
  readonly onProgress: (progress: JobProgress) => void
}

/** @returns the result of the job; the message of an error becomes the job's `error` */
export type JobWork = (run: JobRun) => Promise<object>

export type Jobs = {
  /**
   * Starts work, and returns while it runs.
   * @throws DomainError `job_running` while such a job of this subject runs, here or in another process, or too many others;
   *   database errors
   */
  start(job: NewJob, work: JobWork): Promise<Job>
  /** @returns the newest first */
  list(limit: number): Promise<Job[]>
  get(id: string): Promise<Job | undefined>
  /** Cancels a running job of any process; one that has ended stays as it is. */
  cancel(id: string): Promise<Job | undefined>
  /** The jobs that run here, for the log. */
  inFlight(): readonly string[]
  /** Interrupts the jobs that run here, and waits for them until `givingUp` aborts. */
  stop(givingUp: AbortSignal): Promise<void>
}

/** Also how often progress is written, and how long a cancellation takes to reach another process. */
const heartbeatMs = 1_000
/** How often the end of a job is written before its row is left to become interrupted. */
const endAttempts = 10

type StopReason = 'canceled' | 'interrupted'

/** Work that gives up for this reason has not failed. */
class JobStopped extends Error {
  override readonly name = 'JobStopped'
  readonly status: StopReason

  constructor(status: StopReason) {
    super(`the job was ${status}`)
    this.status = status
  }
}

type RunningJob = { readonly job: Job; readonly abort: AbortController; readonly ended: Promise<void> }

/** @param pool for short queries */
export function createJobs({ pool, log }: { readonly pool: Pool; readonly log: Logger }): Jobs {
  const running = new Map<string, RunningJob>()

  /** Until the work has ended. A failed heartbeat is repeated: without any for 10 s the job counts as interrupted. */
  async function sendHeartbeats(
    { id }: Job,
    abort: AbortController,
    latest: () => JobProgress | undefined,
    ended: AbortSignal,
  ): Promise<void> {
    while (!ended.aborted) {
      await sleep(heartbeatMs, undefined, { signal: ended }).catch(() => undefined)
      if (ended.aborted) return
      try {
        const state = await writeHeartbeat(pool, id, latest())
        if (state !== 'continue') abort.abort(new JobStopped(state === 'cancel' ? 'canceled' : 'interrupted'))
      } catch (error) {
        log.warn({ err: error, job: id }, 'the heartbeat of a job failed')
      }
    }
  }

  async function run(job: Job, abort: AbortController, work: JobWork): Promise<void> {
    let progress: JobProgress | undefined
    const ended = new AbortController()
    const onProgress = (latest: JobProgress) => {
      progress = latest
    }
    const heartbeats = sendHeartbeats(job, abort, () => progress, ended.signal)
    const end = await outcomeOf(job, abort.signal, () => work({ signal: abort.signal, onProgress }))
    ended.abort()
    await heartbeats
    await reportEnd(job, { ...end, progress })
  }

  async function outcomeOf(job: Job, signal: AbortSignal, work: () => Promise<object>): Promise<JobEnd> {
    try {
      return { status: 'succeeded', result: await work() }
    } catch (error) {
      if (signal.reason instanceof JobStopped) return { status: signal.reason.status }
      log.error({ err: error, ...described(job) }, 'a job failed')
      return { status: 'failed', error: failureText(error) }
    }
  }

  /** The database may be the reason why the job ended, and come back. */
  async function reportEnd(job: Job, end: JobEnd): Promise<void> {
    for (let attempt = 1; attempt <= endAttempts; attempt++) {
      try {
        await endJob(pool, job.id, end)
        log.info({ ...described(job), status: end.status }, 'a job ended')
        return
      } catch (error) {
        log.warn({ err: error, ...described(job), status: end.status }, 'the end of a job could not be written')
        await sleep(heartbeatMs)
      }
    }
  }

  return {
    async start(wanted, work) {
      const job = await insertJob(pool, wanted)
      if (job === undefined) throw jobRunning(wanted)
      log.info({ ...described(job), requestedBy: job.requested_by }, 'a job started')
      const abort = new AbortController()
      const ended = run(job, abort, work).finally(() => running.delete(job.id))
      running.set(job.id, { job, abort, ended })
      return job
    },
    list: (limit) => listJobs(pool, limit),
    get: (id) => readJob(pool, id),
    async cancel(id) {
      running.get(id)?.abort.abort(new JobStopped('canceled'))
      return await requestCancellation(pool, id)
    },
    inFlight: () => [...running.values()].map(({ job: { kind, subject } }) => `${kind} ${subject}`),
    async stop(givingUp) {
      const all = [...running.values()]
      for (const { abort } of all) abort.abort(new JobStopped('interrupted'))
      const { promise: isLate, resolve } = Promise.withResolvers<void>()
      givingUp.addEventListener('abort', () => resolve(), { once: true })
      await Promise.race([Promise.all(all.map(({ ended }) => ended)), isLate])
      // Such as one that creates an index, which cannot be abandoned.
      for (const { job } of running.values()) await endJob(pool, job.id, { status: 'interrupted' })
    },
  }
}

const described = ({ id, kind, subject }: Job) => ({ job: id, kind, subject })

function jobRunning({ kind, subject }: NewJob): DomainError {
  return new DomainError(
    'job_running',
    `Either a ${kind} of ${subject} or ${maxRunning} other jobs are running; try again when one has ended`,
  )
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return withoutUrlSecrets(databaseAdvice(error) ?? error.message)
}
