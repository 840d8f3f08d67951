// One run of a redelivery.
import {
  type FailedRange,
  failedIds,
  findDeliveries,
  findFailed,
  type Redelivered,
  redeliver,
  redeliverFailed,
} from '@paylog/deliveries/operations/redelivery'
import { OpsError } from '../command.ts'
import type { ReportWriter } from '../progress.ts'
import { deliveriesText, unknownEndpoint } from './database.ts'
import type { RedeliverProgress } from './redeliverProgress.ts'

type Pool = Parameters<typeof redeliver>[0]

export type RedeliverRun = ReportWriter & {
  readonly isDryRun: boolean
  readonly isJson: boolean
  readonly onProgress: (progress: RedeliverProgress) => void
  readonly signal: AbortSignal
}

const batchSize = 500
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

type RedeliverSummary = { readonly redelivered: number; readonly held: number; readonly unknown: readonly string[] }

/** Sends these again. @throws OpsError when some are unknown, or after an interruption */
export async function redeliverIds(pool: Pool, given: readonly string[], run: RedeliverRun): Promise<void> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  const batches = inBatches(ids)
  const found = await forEachBatch(batches, { of: ids.length, run }, (batch) =>
    run.isDryRun ? findDeliveries(pool, uuids(batch)) : redeliver(pool, uuids(batch), new Date()),
  )
  const known = new Set(found.map(({ id }) => id))
  const unknown = found.length < ids.length && !run.signal.aborted ? ids.filter((id) => !known.has(id)) : []
  await conclude(run, { ...count(found), unknown })
  if (unknown.length > 0) throw new OpsError(`Unknown: ${unknown.join(', ')}`)
}

const uuids = (ids: readonly string[]) => ids.filter((id) => uuid.test(id))

/** Sends all of a node again that failed. @throws OpsError when there is no such node, or after an interruption */
export async function redeliverAllFailed(
  pool: Pool,
  asked: Omit<FailedRange, 'until'>,
  run: RedeliverRun,
): Promise<void> {
  const failed = await findFailed(pool, asked)
  if (failed === undefined) throw new OpsError(await unknownEndpoint(pool, asked.node))
  const { count: of, until, is_held } = failed
  if (run.isDryRun || until === null)
    return await conclude(run, { redelivered: of, held: is_held ? of : 0, unknown: [] })
  const range = { ...asked, until }
  // What was sent again is failed no more, so that the next ones are always the first.
  async function* batches() {
    for (;;) {
      const ids = await failedIds(pool, range, batchSize)
      if (ids.length === 0) return
      yield ids
    }
  }
  const found = await forEachBatch(batches(), { of, run }, (batch) => redeliverFailed(pool, batch, new Date()))
  await conclude(run, { ...count(found), unknown: [] })
}

async function forEachBatch(
  batches: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  { of, run }: { readonly of: number; readonly run: RedeliverRun },
  work: (batch: readonly string[]) => Promise<readonly Redelivered[]>,
): Promise<readonly Redelivered[]> {
  const found: Redelivered[] = []
  for await (const batch of batches) {
    if (run.signal.aborted) break
    found.push(...(await work(batch)))
    if (of > batchSize) run.onProgress({ phase: 'redelivering', done: found.length, of })
  }
  return found
}

function* inBatches(ids: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < ids.length; start += batchSize) yield ids.slice(start, start + batchSize)
}

function count(found: readonly Redelivered[]) {
  return { redelivered: found.length, held: found.filter(({ is_held }) => is_held).length }
}

/** @throws OpsError after an interruption */
async function conclude(
  { isJson, isDryRun, signal, conclude: end }: RedeliverRun,
  summary: RedeliverSummary,
): Promise<void> {
  const { redelivered, held } = summary
  const isWhole = !signal.aborted
  const will = isDryRun ? 'would be sent again' : 'will be sent again'
  const waits = held === 0 ? '' : `, ${held} of them once their node is enabled (webhooks enable)`
  const json = { complete: isWhole, dry_run: isDryRun, ...summary }
  await end(isJson ? JSON.stringify(json) : `${deliveriesText(redelivered)} ${will}${waits}.`)
  if (!isWhole) throw new OpsError('Interrupted. Run it again for the rest.')
}
