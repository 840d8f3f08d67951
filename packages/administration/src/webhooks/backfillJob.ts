// A backfill as a job.

import type { LogPosition } from '@paylog/domain/events'
import { invalidInput } from '@paylog/runtime/http/validation'
import { createPool } from '@paylog/runtime/postgres/pool'
import { type BackfillResult, backfill } from '@paylog/webhooks/deliveries/operations/backfill'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { JobWork } from '../jobs/jobs.ts'
import type { OperatorDependencies } from '../routeSchemas.ts'

export type BackfillDependencies = Pick<
  OperatorDependencies,
  'databaseUrl' | 'store' | 'endpoints' | 'backfills' | 'jobs' | 'log' | 'now'
>

export type BackfillJob = {
  readonly endpoint: WebhookEndpoint
  /** Position of the first event; the start of the log when undefined. */
  readonly from: LogPosition | undefined
  readonly dryRun: boolean
}

/** What `ops webhooks backfill` does; the result has the fields of its `--json`. */
export const backfillWork =
  (
    { databaseUrl, store, backfills, log, now }: Omit<BackfillDependencies, 'jobs' | 'endpoints'>,
    { endpoint, from, dryRun }: BackfillJob,
  ): JobWork =>
  async ({ signal, onProgress }) => {
    const { projects, keepMs } = backfills
    const head = (await store.head())?.commit.toString() ?? null
    const notBefore = keepMs === 0 ? undefined : new Date(now().getTime() - keepMs)
    const step = dryRun ? 'counting' : 'creating'
    // Its own, because it waits for the locks of the worker.
    const pool = createPool({ databaseUrl, applicationName: 'operator-api job', max: 1, log })
    try {
      const done = await backfill(
        { pool, store },
        {
          ...{ endpoint, projects, from, notBefore, now, signal, isDryRun: dryRun },
          onProgress: ({ events, position }) => onProgress({ step, events, position: textOf(position), head }),
        },
      )
      signal.throwIfAborted()
      return resultOf(done, dryRun)
    } finally {
      await pool.end()
    }
  }

function resultOf({ events, tooOld, missing, present, position }: BackfillResult, dryRun: boolean) {
  return { events, too_old: tooOld, missing, present, position: textOf(position), dry_run: dryRun }
}

export type BackfillReport = ReturnType<typeof resultOf>

const textOf = (position: LogPosition | undefined) => position?.commit.toString() ?? null

/**
 * Where a backfill starts.
 * @throws DomainError `invalid_request` for a position after the end of the log; `event_store_unavailable`
 */
export async function startOf(
  { store }: Pick<OperatorDependencies, 'store'>,
  text = '0',
): Promise<LogPosition | undefined> {
  const first = BigInt(text)
  if (first === 0n) return undefined
  if (first > ((await store.head())?.commit ?? 0n))
    throw invalidInput('body', [{ field: 'from', message: 'must not be after the end of the log' }])
  return { commit: first, prepare: first }
}
