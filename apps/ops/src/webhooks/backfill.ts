// `webhooks backfill`: creates the deliveries that an endpoint never got.

import type { BackfillReport } from '@paylog/administration/webhooks/backfillJob'
import { backfillRoutes } from '@paylog/administration/webhooks/endpointActions'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { deliveryVariables } from '@paylog/webhooks/deliveries/variables'
import { loadWithEndpoints, type WebhookEndpoint, withoutSigningSecrets } from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { jobApi } from '../jobApi.ts'
import { count, flag, required, text } from '../options.ts'
import { counted } from '../texts.ts'
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
  async run(run) {
    const { options, environment, open } = run
    const { endpoints, ...config } = loadWithEndpoints(Config, withoutSigningSecrets(environment))
    const endpoint = configuredEndpoint(endpoints, options.node)
    const { WEBHOOK_LOG_RETENTION: keepMs, PROJECT_ID: projectId, PROJECT_IDS: projectIds } = config
    const pool = open.pool()
    const store = await open.store(await open.keys())
    const runJob = await jobApi(run, pool, (jobs) =>
      backfillRoutes({
        ...{ databaseUrl: open.databaseUrl(), store, jobs, log: open.log },
        ...{ endpoints: [endpoint], backfills: { projects: { projectId, projectIds }, keepMs }, now: () => new Date() },
      }),
    )
    const body = { from: String(options.from), dry_run: options['dry-run'] }
    const path = `/admin/webhook-endpoints/${endpoint.name}/backfill`
    const { status, result, error, progress } = await runJob(path, body, () => 'Reading')
    if (error !== null) throw new OpsError(error)
    const isDone = status === 'succeeded'
    const counts = isDone ? (result as BackfillReport) : { dry_run: body.dry_run, events: progress?.events ?? 0 }
    return {
      json: { complete: isDone, ...counts },
      text: isDone ? summaryText(result as BackfillReport) : '',
      problem: isDone ? undefined : 'Interrupted. Run the command again for the rest: nothing is created twice.',
    }
  },
})

/** @throws OpsError for an endpoint that is not configured */
function configuredEndpoint(nodes: readonly WebhookEndpoint[], name: string): WebhookEndpoint {
  const node = nodes.find((configured) => configured.name === name)
  if (node !== undefined) return node
  const others = nodes.map((configured) => configured.name).join(', ')
  throw new OpsError(
    `Endpoint ${name} is not configured here. ${others === '' ? 'No endpoint is.' : `Configured: ${others}.`} ` +
      'Set the same variables as for the worker.',
  )
}

function summaryText({ events, too_old, missing, present, dry_run }: BackfillReport): string {
  const age = too_old === 0 ? '' : ` (${too_old} older than WEBHOOK_LOG_RETENTION)`
  const are = missing === 1 ? 'is' : 'are'
  const made = dry_run ? `${deliveriesText(missing)} ${are} missing` : `${deliveriesText(missing)} created`
  return `${counted(events, 'event')}${age}: ${made}, ${present} already there.`
}
