// Rebuilds and verifications as jobs.
import { DomainError } from '@paylog/domain/errors'
import type { Projection } from '@paylog/projections/projection'
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { rebuildOne, rebuiltJson } from '@paylog/projections/rebuild/rebuildOne'
import { heldLocks, type ReplayOptions, replayConnections } from '@paylog/projections/rebuild/replay'
import { verifiedJson, verifyLock, verifyOne } from '@paylog/projections/rebuild/verify'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Pool } from 'pg'
import type { JobRun, JobWork } from '../jobs/jobs.ts'
import type { OperatorDependencies } from '../routeSchemas.ts'

/** The number of differing rows in the result of a verification. */
const maxRows = 20

type ReplayDependencies = Pick<OperatorDependencies, 'databaseUrl' | 'store' | 'log'>

const replayJob =
  (replay: (options: ReplayOptions) => Promise<object>) =>
  ({ databaseUrl, store, log }: ReplayDependencies, projection: Projection): JobWork =>
  async ({ signal, onProgress }) => {
    // Its own, because its statements may take long, and must not wait for requests.
    const pool = createPool({ databaseUrl, applicationName: 'operator-api job', max: replayConnections, log })
    try {
      const options = { databaseUrl, pool, store, log, projection, signal }
      return await replay({ ...options, onProgress: reportTo(onProgress) })
    } finally {
      await pool.end()
    }
  }

const reportTo =
  (onProgress: JobRun['onProgress']): ReplayOptions['onProgress'] =>
  ({ step, events, position, end }) =>
    onProgress({
      step,
      events,
      position: position?.commit.toString() ?? null,
      head: end?.commit.toString() ?? null,
    })

/** What each kind of job does. The result is what `ops projections … --json` prints for one projection. */
export const replayJobs = {
  rebuild: replayJob(async (options) => rebuiltJson(await rebuildOne(options))),
  verify: replayJob(async (options) => verifiedJson(await verifyOne({ ...options, maxRows }))),
}

const locks = { rebuild: rebuildLock, verify: verifyLock }
const doing = { rebuild: 'rebuilding', verify: 'verifying' }

/**
 * Checks whether the command line or a projector does the same, which is no job.
 * @throws DomainError `job_running`
 */
export async function requireIdle(pool: Pool, kind: keyof typeof locks, projection: Projection): Promise<void> {
  const held = await heldLocks(pool, [locks[kind](projection)])
  if (held.size > 0)
    throw new DomainError(
      'job_running',
      `Another process is ${doing[kind]} ${projection.name}; try again when it has ended`,
    )
}
