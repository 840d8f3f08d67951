// `webhooks enable`: sends to a paused endpoint again.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { listEndpoints } from '@paylog/deliveries/operations/endpointList'
import { type EnabledEndpoint, enableEndpoint } from '@paylog/deliveries/operations/redelivery'
import { Type } from 'typebox'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import { deliveriesText, unknownEndpoint, withDeliveries } from '../database.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

export const webhooksEnable: CliCommand = {
  usage: 'NODE [--reason TEXT] [--json]',
  summary: 'Enable an endpoint that was paused after a 410 response, and send its waiting deliveries',
  details: [
    reasonHelp,
    '  --json         one object: the endpoint and the number of waiting deliveries',
    '',
    'An endpoint that responds 410 Gone is paused: it receives nothing until it is enabled here, and its deliveries are',
    'kept. The worker then sends them within seconds, each with a new retry schedule. Deliveries of an endpoint that is not',
    'configured wait until it is.',
  ].join('\n'),
  async run(args, context) {
    const { environment, print, errors } = context
    const { values, positionals } = readArguments(args, ['NODE'], { ...reasonOption, json: { type: 'boolean' } })
    const reason = readAuditReason(values.reason)
    const [node] = positionals
    const { DATABASE_URL } = loadConfig(Config, environment)
    await withDeliveries(DATABASE_URL, errors, async (pool) => {
      const listed = await listEndpoints(pool, node)
      if (listed.length === 0) throw new OpsError(await unknownEndpoint(pool, node))
      const target = { kind: 'webhook_endpoint', id: node }
      await auditCommand(context, reason, { action: 'enable_webhook_endpoint', target })
      const enabled = await enableEndpoint(pool, node, new Date())
      if (enabled === undefined) throw new OpsError(await unknownEndpoint(pool, node))
      const is_configured = listed.some((endpoint) => endpoint.is_configured)
      const outcome = { node, is_configured, ...enabled }
      await print(values.json ? JSON.stringify(outcome) : outcomeText(outcome))
    })
  },
}

type Outcome = EnabledEndpoint & { readonly node: string; readonly is_configured: boolean }

function outcomeText({ node, is_configured, disabled_at, held }: Outcome): string {
  if (disabled_at === null) return `Endpoint ${node} is not paused${is_configured ? '' : ', but it is not configured'}.`
  const since = disabled_at.toISOString()
  const [have, are] = held === 1 ? ['has', 'is'] : ['have', 'are']
  const what = held === 0 ? `no delivery has waited` : `${deliveriesText(held)} that ${have} waited`
  const when = held === 0 ? '' : ` ${are} sent ${is_configured ? 'now' : 'once it is'}`
  return `Endpoint ${node} is enabled${is_configured ? '' : ', but it is not configured'}: ${what} since ${since}${when}.`
}
