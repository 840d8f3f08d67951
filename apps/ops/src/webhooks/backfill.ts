// `webhooks backfill`: creates the deliveries that an endpoint never got.

import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { type BackfillResult, backfill } from '@paylog/webhooks/deliveries/operations/backfill'
import { deliveryVariables } from '@paylog/webhooks/deliveries/variables'
import { loadWithEndpoints, type WebhookEndpoint, withoutSigningSecrets } from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { count, flag, required, text } from '../options.ts'
import { partOfLog } from '../progressLine.ts'
import { logVariable } from '../variables.ts'
import { deliveriesText } from './deliveriesText.ts'

const { PROJECT_ID, PROJECT_IDS, WEBHOOK_LOG_RETENTION } = deliveryVariables
const Config = Type.Object({ ...logVariable, ...dataKeyVariables, PROJECT_ID, PROJECT_IDS, WEBHOOK_LOG_RETENTION })

export const webhooksBackfill = defineCommand({
  summary: 'Create the deliveries that an endpoint never got, from a position of the log on',
  options: {
    node: required(text('N', 'an endpoint, configured here as for the worker (WEBHOOK_n_…, EXTERNAL_WEBHOOK_…)')),
    from: required(
      count('POSITION', 'position of the first event, as shown by `streams read --json`; 0 is the start of the log', {
        min: 0,
      }),
    ),
    'dry-run': flag('only counts what is missing'),
  },
  audited: 'reason',
  json: 'one object: the numbers of missing and created deliveries',
  about: [
    'Reads the log up to its current end and applies the current configuration. Only missing deliveries are created, with',
    'the ids that the worker would have used, so that nothing is sent twice, even if the URL of the endpoint has changed.',
    'Webhook tests are skipped, and so are events older than WEBHOOK_LOG_RETENTION: their deliveries may have been removed,',
    'and would be sent again.',
    '',
    'It may run beside the worker, which sends the deliveries, and may be interrupted and repeated at any time. Exits with 1',
    'when it was interrupted.',
  ],
  onInterrupt: 'finishes',
  async run({ options, environment, open, progress, signal, audit }) {
    const { config, endpoint } = readConfig(environment, options.node)
    const isDryRun = options['dry-run']
    const from = BigInt(options.from)
    const store = await open.store(await open.keys())
    const target = { kind: 'webhook_endpoint', id: endpoint.name }
    if (!isDryRun) await audit({ action: 'backfill_webhooks', target, details: { from: String(from) } })
    const head = (await store.head())?.commit ?? 0n
    const keepMs = config.WEBHOOK_LOG_RETENTION
    const work = {
      endpoint,
      projects: { projectId: config.PROJECT_ID, projectIds: config.PROJECT_IDS },
      from: from === 0n ? undefined : { commit: from, prepare: from },
      notBefore: keepMs === 0 ? undefined : new Date(Date.now() - keepMs),
      isDryRun,
      now: () => new Date(),
      signal,
      onProgress: ({ events: done, missing, position }: BackfillResult) =>
        progress.show({
          ...{ step: 'Reading', done, unit: 'events', also: `${missing} missing deliveries` },
          part: partOfLog(position?.commit ?? from, head, from),
        }),
    }
    const { position, tooOld, ...done } = await backfill({ pool: open.pool(), store }, work)
    const counts = { events: done.events, too_old: tooOld, missing: done.missing, present: done.present }
    return {
      json: { complete: !signal.aborted, dry_run: isDryRun, ...counts, position: position?.commit.toString() ?? null },
      text: summaryText({ tooOld, ...done }, isDryRun),
      problem: signal.aborted
        ? 'Interrupted. Run the command again for the rest: nothing is created twice.'
        : undefined,
    }
  },
})

/** @throws ConfigError; OpsError for an endpoint that is not configured */
function readConfig(environment: NodeJS.ProcessEnv, node: string) {
  const config = loadWithEndpoints(Config, withoutSigningSecrets(environment))
  return { config, endpoint: configuredEndpoint(config.endpoints, node) }
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

function summaryText(
  { events, tooOld, missing, present }: Omit<BackfillResult, 'position'>,
  isDryRun: boolean,
): string {
  const read = events === 1 ? '1 event' : `${events} events`
  const age = tooOld === 0 ? '' : ` (${tooOld} older than WEBHOOK_LOG_RETENTION)`
  const are = missing === 1 ? 'is' : 'are'
  const made = isDryRun ? `${deliveriesText(missing)} ${are} missing` : `${deliveriesText(missing)} created`
  return `${read}${age}: ${made}, ${present} already there.`
}
