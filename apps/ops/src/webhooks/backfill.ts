// `webhooks backfill`: creates the deliveries that an endpoint never got.
import { loadConfig, readVariableFiles } from '@paylog/config/environment'
import { type BackfillResult, backfill } from '@paylog/deliveries/operations/backfill'
import { deliveryVariables } from '@paylog/deliveries/variables'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import {
  decodeEndpoints,
  isWebhookVariable,
  type WebhookEndpoint,
  withoutSigningSecrets,
} from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'
import { auditOn, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments, readCount, UsageError } from '../command.ts'
import { deliveriesText, withDeliveries } from '../database.ts'
import { openEventLog } from '../eventLog.ts'
import {
  type CliProgress,
  type CliProgressOutput,
  createProgress,
  createProgressBar,
  createReportWriter,
} from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'
import { withInterrupt } from '../withInterrupt.ts'

const { DATABASE_URL, EVENTSTORE_URL, PROJECT_ID, PROJECT_IDS, WEBHOOK_LOG_RETENTION } = deliveryVariables
const Config = Type.Object({
  DATABASE_URL,
  ...masterKeyVariables,
  EVENTSTORE_URL,
  PROJECT_ID,
  PROJECT_IDS,
  WEBHOOK_LOG_RETENTION,
})

export const webhooksBackfill: CliCommand = {
  usage: '--node N --from POSITION [--dry-run] [--reason TEXT] [--json]',
  summary: 'Create the deliveries that an endpoint never got, from a position of the log on',
  details: [
    '  --node N         an endpoint, configured here as for the worker (WEBHOOK_n_…, EXTERNAL_WEBHOOK_…)',
    '  --from POSITION  position of the first event, as shown by `streams read --json`; 0 is the start of the log',
    '  --dry-run        only counts what is missing',
    reasonHelp.replace('TEXT', 'TEXT  '),
    '  --json           one object: the numbers of missing and created deliveries',
    '',
    'Reads the log up to its current end and applies the current configuration. Only missing deliveries are created, with',
    'the ids that the worker would have used, so that nothing is sent twice, even if the URL of the endpoint has changed.',
    'Webhook tests are skipped, and so are events older than WEBHOOK_LOG_RETENTION: their deliveries may have been removed,',
    'and would be sent again.',
    '',
    'It may run beside the worker, which sends the deliveries, and may be interrupted and repeated at any time. Exits with 1',
    'when it was interrupted.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], {
      node: { type: 'string' },
      from: { type: 'string' },
      'dry-run': { type: 'boolean' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    if (values.node === undefined) throw new UsageError('--node is missing')
    const first = readCount('--from', values.from, 0)
    if (first === undefined) throw new UsageError('--from is missing')
    const given = readVariableFiles(withoutSigningSecrets(environment), isWebhookVariable)
    const { endpoints, problems } = decodeEndpoints(given.env)
    const config = loadConfig(Config, given.env, [...given.problems, ...problems])
    const node = configuredEndpoint(endpoints, values.node)
    const isDryRun = values['dry-run'] === true
    const reason = readAuditReason(values.reason)
    const target = { kind: 'webhook_endpoint', id: node.name }
    const progress = createBackfillProgress(errors)
    const { conclude } = createReportWriter(progress, print)
    const { store, close } = await openEventLog(config, errors)
    try {
      const from = BigInt(first)
      if (!isDryRun)
        await auditOn(store, reason, { action: 'backfill_webhooks', target, details: { from: String(from) } })
      const head = (await store.head())?.commit ?? 0n
      const keepMs = config.WEBHOOK_LOG_RETENTION
      const isWhole = await withInterrupt(errors, async (signal) => {
        const done = await withDeliveries(config.DATABASE_URL, errors, (pool) =>
          backfill(
            { pool, store },
            {
              endpoint: node,
              projects: { projectId: config.PROJECT_ID, projectIds: config.PROJECT_IDS },
              from: from === 0n ? undefined : { commit: from, prepare: from },
              notBefore: keepMs === 0 ? undefined : new Date(Date.now() - keepMs),
              isDryRun,
              now: () => new Date(),
              signal,
              onProgress: ({ events, missing, position }) =>
                progress.show({
                  phase: 'backfilling',
                  events,
                  missing,
                  from,
                  position: position?.commit ?? from,
                  head,
                }),
            },
          ),
        )
        const complete = !signal.aborted
        await conclude(values.json ? json(done, { complete, isDryRun }) : backfillSummaryText(done, isDryRun))
        return complete
      })
      if (!isWhole) throw new OpsError('Interrupted. Run the command again for the rest: nothing is created twice.')
    } finally {
      progress.end()
      await close()
    }
  },
}

function configuredEndpoint(nodes: readonly WebhookEndpoint[], name: string): WebhookEndpoint {
  const node = nodes.find((configured) => configured.name === name)
  if (node !== undefined) return node
  const others = nodes.map((configured) => configured.name).join(', ')
  throw new OpsError(
    `Endpoint ${name} is not configured here. ${others === '' ? 'No endpoint is.' : `Configured: ${others}.`} ` +
      'Set the same variables as for the worker.',
  )
}

function json(
  done: BackfillResult,
  { complete, isDryRun }: { readonly complete: boolean; readonly isDryRun: boolean },
) {
  const { events, tooOld, missing, present, position } = done
  const counts = { events, too_old: tooOld, missing, present, position: position?.commit.toString() ?? null }
  return JSON.stringify({ complete, dry_run: isDryRun, ...counts })
}

function backfillSummaryText({ events, tooOld, missing, present }: BackfillResult, isDryRun: boolean): string {
  const read = events === 1 ? '1 event' : `${events} events`
  const age = tooOld === 0 ? '' : ` (${tooOld} older than WEBHOOK_LOG_RETENTION)`
  const are = missing === 1 ? 'is' : 'are'
  const made = isDryRun ? `${deliveriesText(missing)} ${are} missing` : `${deliveriesText(missing)} created`
  return `${read}${age}: ${made}, ${present} already there.`
}

export type BackfillProgress = {
  readonly phase: 'backfilling'
  readonly events: number
  readonly missing: number
  /** Positions of the log: the first, the current and the last one. */
  readonly from: bigint
  readonly position: bigint
  readonly head: bigint
}

export function createBackfillProgress(output: CliProgressOutput, now?: () => number): CliProgress<BackfillProgress> {
  const bar = createProgressBar(output)
  return createProgress<BackfillProgress>(
    output,
    (progress, elapsedMs) => backfillProgressText(progress, elapsedMs, bar),
    now,
  )
}

function backfillProgressText(progress: BackfillProgress, elapsedMs: number, bar: (part: number) => string): string {
  const { events, missing, from, position, head } = progress
  const part = head > from ? Math.min(Number(((position - from) * 1_000n) / (head - from)) / 1_000, 1) : 1
  const left = timeLeft(part, elapsedMs)
  return [
    `Reading: ${bar(part)}${Math.floor(part * 100)} %, ${events} events`,
    ...(elapsedMs > 0 ? [`${Math.round((events * 1_000) / elapsedMs)}/s`] : []),
    `${missing} missing deliveries`,
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}
