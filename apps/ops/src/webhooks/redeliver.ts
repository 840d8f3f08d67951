// `webhooks redeliver`: sends deliveries again, by id or all failed ones of an endpoint.

import type { IntendedAction } from '@paylog/runtime/http/guardRoutes'
import { listSettings } from '@paylog/webhooks/deliveries/operations/deliveryList'
import {
  type FailedRange,
  findDeliveries,
  findFailed,
  type Redelivered,
  redeliver,
  redeliverAllFailed,
  redeliveryBatch,
} from '@paylog/webhooks/deliveries/operations/redelivery'
import { OpsError, UsageError } from '../command.ts'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { flag, text, time } from '../options.ts'
import type { Pool } from '../system.ts'
import { deliveriesText, unknownEndpoint } from './deliveriesText.ts'

export const webhooksRedeliver = defineCommand({
  summary: 'Send deliveries again, with the same id and body',
  args: ['ID…'],
  usage: 'ID… | --node N --failed [--since T] [--dry-run] [--reason TEXT] [--json]',
  options: {
    node: text('N', 'with --failed: the failed deliveries of this endpoint'),
    failed: flag('with --node: deliveries that failed and are not retried any more'),
    since: time('only those that failed since then'),
    'dry-run': flag('only counts them'),
  },
  audited: 'reason',
  json: 'one object: the counts',
  about: [
    'ID is that of the webhook log, in any state; a pending delivery is sent now.',
    'The worker sends them within seconds, with a new retry schedule. While an endpoint is paused or not configured, its',
    'deliveries wait. Exits with 1 when an id is unknown (the others are sent) or the endpoint is, or when it was',
    'interrupted. It may be interrupted and repeated at any time.',
  ],
  onInterrupt: 'finishes',
  async run(call) {
    const { args: ids, options, open } = call
    const range = readRange(options, ids)
    const run = { ...call, pool: open.pool({ settings: listSettings }), isDryRun: options['dry-run'] }
    return range === undefined ? await redeliverIds(ids, run) : await redeliverFailedOf(range, run)
  },
})

type Values = {
  readonly node: string | undefined
  readonly failed: boolean
  readonly since: number | undefined
}

function readRange({ node, failed, since }: Values, ids: readonly string[]) {
  if (node === undefined && !failed && since === undefined) {
    if (ids.length === 0) throw new UsageError('ID is missing')
    return undefined
  }
  if (ids.length > 0) throw new UsageError('Give either ids or --node and --failed')
  if (node === undefined) throw new UsageError('--node is missing')
  if (!failed) throw new UsageError('--failed is missing: without ids, only failed deliveries are sent again')
  return { endpoint: node, since: since === undefined ? undefined : new Date(since) }
}

type RedeliverRun = Pick<Run, 'audit' | 'progress' | 'signal'> & { readonly pool: Pool; readonly isDryRun: boolean }

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

type RedeliverSummary = { readonly redelivered: number; readonly held: number; readonly unknown: readonly string[] }

/** Sends these deliveries again. */
async function redeliverIds(given: readonly string[], run: RedeliverRun): Promise<Result> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  if (!run.isDryRun) await run.audit(idsAction(uuids(ids)))
  const found = await untilStopped(byIds(ids, run), ids.length, run)
  const known = new Set(found.map(({ id }) => id))
  const unknown = found.length < ids.length && !run.signal.aborted ? ids.filter((id) => !known.has(id)) : []
  return resultOf(run, { ...count(found), unknown })
}

/** A list of ids is cut, because the command takes any number. */
function idsAction(ids: readonly string[]): IntendedAction {
  const [only] = ids
  const target = ids.length === 1 && only !== undefined ? { kind: 'webhook_delivery', id: only } : null
  return { action: 'redeliver_webhook', target, details: { deliveries: ids.length, ids: ids.slice(0, maxRecordedIds) } }
}

const maxRecordedIds = 100

const uuids = (ids: readonly string[]) => ids.filter((id) => uuid.test(id))

/** Sends all failed deliveries of an endpoint again. @throws OpsError when the endpoint is unknown */
async function redeliverFailedOf(requestedRange: Omit<FailedRange, 'until'>, run: RedeliverRun): Promise<Result> {
  const { pool } = run
  const failed = await findFailed(pool, requestedRange)
  if (failed === undefined) throw new OpsError(await unknownEndpoint(pool, requestedRange.endpoint))
  const { count: of, until, is_held } = failed
  if (run.isDryRun || until === null) return resultOf(run, { redelivered: of, held: is_held ? of : 0, unknown: [] })
  await run.audit({
    action: 'redeliver_failed_webhooks',
    target: { kind: 'webhook_endpoint', id: requestedRange.endpoint },
    details: { since: requestedRange.since?.toISOString() ?? null, deliveries: of },
  })
  const again = redeliverAllFailed(pool, { ...requestedRange, until }, () => new Date())
  return resultOf(run, { ...count(await untilStopped(again, of, run)), unknown: [] })
}

async function untilStopped(
  batches: AsyncIterable<readonly Redelivered[]>,
  of: number,
  run: RedeliverRun,
): Promise<readonly Redelivered[]> {
  const found: Redelivered[] = []
  // A batch that started is completed.
  if (run.signal.aborted) return found
  for await (const batch of batches) {
    found.push(...batch)
    if (of > redeliveryBatch) run.progress.show({ step: 'Redelivering', done: found.length, of })
    if (run.signal.aborted) break
  }
  return found
}

async function* byIds(
  ids: readonly string[],
  { pool, isDryRun }: RedeliverRun,
): AsyncGenerator<readonly Redelivered[], void> {
  for (let start = 0; start < ids.length; start += redeliveryBatch) {
    const batch = uuids(ids.slice(start, start + redeliveryBatch))
    yield await (isDryRun ? findDeliveries(pool, batch) : redeliver(pool, batch, new Date()))
  }
}

function count(found: readonly Redelivered[]) {
  return { redelivered: found.length, held: found.filter(({ is_held }) => is_held).length }
}

function resultOf({ isDryRun, signal }: RedeliverRun, summary: RedeliverSummary): Result {
  const { redelivered, held, unknown } = summary
  const complete = !signal.aborted
  const will = isDryRun ? 'would be sent again' : 'will be sent again'
  const waits = held === 0 ? '' : `, ${held} of them once their endpoint is enabled (webhooks enable)`
  const unknownText = unknown.length === 0 ? undefined : `Unknown ids: ${unknown.join(', ')}`
  return {
    json: { complete, dry_run: isDryRun, ...summary },
    text: `${deliveriesText(redelivered)} ${will}${waits}.`,
    problem: complete ? unknownText : 'Interrupted. Run the command again for the rest.',
  }
}
