// `webhooks redeliver`: sends deliveries again, by id or all failed ones of an endpoint.
import { oneDeliveryRoutes } from '@paylog/administration/webhooks/deliveryRoutes'
import type { WebhookDeliveryDetails } from '@paylog/administration/webhooks/deliverySchemas'
import { type RedeliveredDeliveries, redeliverRoutes } from '@paylog/administration/webhooks/endpointActions'
import { DomainError } from '@paylog/domain/errors'
import { listSettings } from '@paylog/webhooks/deliveries/operations/deliveryList'
import type { Call } from '../api.ts'
import { UsageError } from '../command.ts'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { flag, text, time } from '../options.ts'
import type { Pool } from '../system.ts'
import { interrupted } from '../texts.ts'
import { deliveriesText, whenKnown } from './deliveriesText.ts'

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
  async run({ args: ids, options, open, api, signal, progress }) {
    const range = readRange(options, ids)
    const pool = open.pool({ settings: listSettings })
    const parts = { pool, now: () => new Date() }
    const call = await api(oneDeliveryRoutes({ ...parts, endpoints: [] }), redeliverRoutes(parts))
    const isDryRun = options['dry-run']
    const run = { call, pool, isDryRun, signal, progress }
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

type RedeliverRun = Pick<Run, 'progress' | 'signal'> & {
  readonly call: Call
  readonly pool: Pool
  readonly isDryRun: boolean
}

/** Fewer deliveries have no progress. */
const shownFrom = 500

type RedeliverSummary = { readonly redelivered: number; readonly held: number; readonly unknown: readonly string[] }

/** Sends these deliveries again, one after the other. */
async function redeliverIds(given: readonly string[], run: RedeliverRun): Promise<Result> {
  const { call, isDryRun, signal, progress } = run
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  const found: WebhookDeliveryDetails[] = []
  const unknown: string[] = []
  for (const id of ids) {
    if (signal.aborted) break
    const path = `/admin/webhook-deliveries/${encodeURIComponent(id)}`
    try {
      found.push(await (isDryRun ? call('GET', path) : call('POST', `${path}/redeliver`)))
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'not_found')) throw error
      unknown.push(id)
    }
    if (ids.length > shownFrom)
      progress.show({ step: 'Redelivering', done: found.length + unknown.length, of: ids.length })
  }
  const held = found.filter(({ status }) => status === 'held').length
  const isWhole = found.length + unknown.length === ids.length
  return resultOf(run, { redelivered: found.length, held, unknown }, isWhole)
}

/** Sends all failed deliveries of an endpoint again. @throws OpsError when the endpoint is unknown */
async function redeliverFailedOf({ endpoint, since }: ReturnType<typeof readRange> & object, run: RedeliverRun) {
  const { call, pool, isDryRun, signal, progress } = run
  const path = `/admin/webhook-endpoints/${encodeURIComponent(endpoint)}/redeliver`
  const send = (dry_run: boolean) =>
    whenKnown(
      pool,
      endpoint,
      call<RedeliveredDeliveries>('POST', path, { body: { since: since?.toISOString(), dry_run } }),
    )
  const all = await send(true)
  const sum = { redelivered: isDryRun ? all.deliveries : 0, held: isDryRun ? all.held : 0 }
  // Those that fail again meanwhile are left.
  while (sum.redelivered < all.deliveries && !signal.aborted) {
    const { deliveries, held, is_complete } = await send(false)
    sum.redelivered += deliveries
    sum.held += held
    if (all.deliveries > shownFrom) progress.show({ step: 'Redelivering', done: sum.redelivered, of: all.deliveries })
    if (is_complete) break
  }
  return resultOf(run, { ...sum, unknown: [] }, sum.redelivered >= all.deliveries)
}

function resultOf({ isDryRun }: RedeliverRun, summary: RedeliverSummary, complete: boolean): Result {
  const { redelivered, held, unknown } = summary
  const will = isDryRun ? 'would be sent again' : 'will be sent again'
  const waits = held === 0 ? '' : `, ${held} of them once their endpoint is enabled (webhooks enable)`
  const unknownText = unknown.length === 0 ? undefined : `Unknown ids: ${unknown.join(', ')}`
  return {
    json: { complete, dry_run: isDryRun, ...summary },
    text: `${deliveriesText(redelivered)} ${will}${waits}.`,
    problem: complete ? unknownText : interrupted,
  }
}
