// `webhooks redeliver`: sends deliveries again, by id or all failed ones of an endpoint.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import {
  type FailedRange,
  findDeliveries,
  findFailed,
  type Redelivered,
  redeliver,
  redeliverAllFailed,
  redeliveryBatch,
} from '@paylog/deliveries/operations/redelivery'
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import { Type } from 'typebox'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readList, readSince, UsageError } from '../command.ts'
import { deliveriesText, unknownEndpoint, withDeliveries } from '../database.ts'
import {
  type CliProgress,
  type CliProgressOutput,
  createProgress,
  createProgressBar,
  createReportWriter,
  type ReportWriter,
} from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'
import { withInterrupt } from '../withInterrupt.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

export const webhooksRedeliver: CliCommand = {
  usage: 'ID… | --node N --failed [--since T] [--dry-run] [--reason TEXT] [--json]',
  summary: 'Send deliveries again, with the same id and body',
  details: [
    '  ID…            ids of the webhook log, in any state; a pending delivery is sent now',
    '  --node N       with --failed: the failed deliveries of this endpoint',
    '  --failed       with --node: deliveries that failed and are not retried any more',
    '  --since T      only those that failed since then: a time such as 2026-11-01T00:00:00Z, or an age such as 90m, 24h, 7d',
    '  --dry-run      only counts them',
    reasonHelp,
    '  --json         one object: the counts',
    '',
    'The worker sends them within seconds, with a new retry schedule. While an endpoint is paused or not configured, its',
    'deliveries wait. Exits with 1 when an id is unknown (the others are sent) or the endpoint is, or when it was',
    'interrupted. It may be interrupted and repeated at any time.',
  ].join('\n'),
  async run(args, context) {
    const { environment, print, errors } = context
    const { values, positionals: ids } = readList(args, {
      node: { type: 'string' },
      failed: { type: 'boolean' },
      since: { type: 'string' },
      'dry-run': { type: 'boolean' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    const bulk = readBulk(values, ids)
    const { DATABASE_URL } = loadConfig(Config, environment)
    const progress = createRedeliverProgress(errors)
    const reason = readAuditReason(values.reason)
    const audit = (deed: IntendedDeed) => auditCommand(context, reason, deed)
    const options = { isDryRun: values['dry-run'] === true, isJson: values.json === true, audit }
    try {
      await withDeliveries(DATABASE_URL, errors, (pool) =>
        withInterrupt(errors, (signal) => {
          const run = { ...options, ...createReportWriter(progress, print), onProgress: progress.show, signal }
          return bulk === undefined ? redeliverIds(pool, ids, run) : redeliverFailedOf(pool, bulk, run)
        }),
      )
    } finally {
      progress.end()
    }
  },
}

type Values = {
  readonly node?: string | undefined
  readonly failed?: boolean | undefined
  readonly since?: string | undefined
}

function readBulk({ node, failed, since }: Values, ids: readonly string[]) {
  if (node === undefined && failed === undefined && since === undefined) {
    if (ids.length === 0) throw new UsageError('ID is missing')
    return undefined
  }
  if (ids.length > 0) throw new UsageError('Give either ids or --node and --failed')
  if (node === undefined) throw new UsageError('--node is missing')
  if (failed !== true) throw new UsageError('--failed is missing: without ids, only failed deliveries are sent again')
  return { node, since: since === undefined ? undefined : new Date(readSince(since, Date.now())) }
}

export type RedeliverProgress = { readonly phase: 'redelivering'; readonly done: number; readonly of: number }

export function createRedeliverProgress(output: CliProgressOutput, now?: () => number): CliProgress<RedeliverProgress> {
  const bar = createProgressBar(output)
  return createProgress<RedeliverProgress>(
    output,
    (progress, elapsedMs) => redeliverProgressText(progress, elapsedMs, bar),
    now,
  )
}

function redeliverProgressText(
  { done, of }: RedeliverProgress,
  elapsedMs: number,
  bar: (part: number) => string,
): string {
  const part = of === 0 ? 1 : Math.min(done / of, 1)
  const left = timeLeft(part, elapsedMs)
  return [
    `Redelivering: ${bar(part)}${done} of ${of}`,
    ...(elapsedMs > 0 ? [`${Math.round((done * 1_000) / elapsedMs)}/s`] : []),
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}

type Pool = Parameters<typeof redeliver>[0]

export type RedeliverRun = ReportWriter & {
  /** Called before anything is sent. */
  readonly audit: (deed: IntendedDeed) => Promise<void>
  readonly isDryRun: boolean
  readonly isJson: boolean
  readonly onProgress: (progress: RedeliverProgress) => void
  readonly signal: AbortSignal
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

type RedeliverSummary = { readonly redelivered: number; readonly held: number; readonly unknown: readonly string[] }

/** Sends these deliveries again. @throws OpsError when some are unknown, or after an interruption */
export async function redeliverIds(pool: Pool, given: readonly string[], run: RedeliverRun): Promise<void> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  if (!run.isDryRun) await run.audit(idsDeed(uuids(ids)))
  const found = await untilStopped(byIds(pool, ids, run), ids.length, run)
  const known = new Set(found.map(({ id }) => id))
  const unknown = found.length < ids.length && !run.signal.aborted ? ids.filter((id) => !known.has(id)) : []
  await conclude(run, { ...count(found), unknown })
  if (unknown.length > 0) throw new OpsError(`Unknown ids: ${unknown.join(', ')}`)
}

/** A list of ids is cut, because the command takes any number. */
function idsDeed(ids: readonly string[]): IntendedDeed {
  const [only] = ids
  const target = ids.length === 1 && only !== undefined ? { kind: 'webhook_delivery', id: only } : null
  return { action: 'redeliver_webhook', target, details: { deliveries: ids.length, ids: ids.slice(0, maxRecordedIds) } }
}

const maxRecordedIds = 100

const uuids = (ids: readonly string[]) => ids.filter((id) => uuid.test(id))

/**
 * Sends all failed deliveries of an endpoint again. @throws OpsError when the endpoint is unknown, or after an
 * interruption
 */
export async function redeliverFailedOf(
  pool: Pool,
  requestedRange: Omit<FailedRange, 'until'>,
  run: RedeliverRun,
): Promise<void> {
  const failed = await findFailed(pool, requestedRange)
  if (failed === undefined) throw new OpsError(await unknownEndpoint(pool, requestedRange.node))
  const { count: of, until, is_held } = failed
  if (run.isDryRun || until === null)
    return await conclude(run, { redelivered: of, held: is_held ? of : 0, unknown: [] })
  await run.audit({
    action: 'redeliver_failed_webhooks',
    target: { kind: 'webhook_endpoint', id: requestedRange.node },
    details: { since: requestedRange.since?.toISOString() ?? null, deliveries: of },
  })
  const again = redeliverAllFailed(pool, { ...requestedRange, until }, () => new Date())
  await conclude(run, { ...count(await untilStopped(again, of, run)), unknown: [] })
}

async function untilStopped(
  batches: AsyncIterable<readonly Redelivered[]>,
  of: number,
  run: RedeliverRun,
): Promise<readonly Redelivered[]> {
  const found: Redelivered[] = []
  // A batch that began is completed.
  if (run.signal.aborted) return found
  for await (const batch of batches) {
    found.push(...batch)
    if (of > redeliveryBatch) run.onProgress({ phase: 'redelivering', done: found.length, of })
    if (run.signal.aborted) break
  }
  return found
}

async function* byIds(
  pool: Pool,
  ids: readonly string[],
  { isDryRun }: RedeliverRun,
): AsyncGenerator<readonly Redelivered[], void> {
  for (let start = 0; start < ids.length; start += redeliveryBatch) {
    const batch = uuids(ids.slice(start, start + redeliveryBatch))
    yield await (isDryRun ? findDeliveries(pool, batch) : redeliver(pool, batch, new Date()))
  }
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
  const waits = held === 0 ? '' : `, ${held} of them once their endpoint is enabled (webhooks enable)`
  const json = { complete: isWhole, dry_run: isDryRun, ...summary }
  await end(isJson ? JSON.stringify(json) : `${deliveriesText(redelivered)} ${will}${waits}.`)
  if (!isWhole) throw new OpsError('Interrupted. Run the command again for the rest.')
}
