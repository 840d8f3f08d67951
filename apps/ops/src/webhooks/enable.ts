// `webhooks enable`: sends to a paused endpoint again.
import { listEndpoints } from '@paylog/webhooks/deliveries/operations/endpointList'
import { type EnabledEndpoint, enableEndpoint } from '@paylog/webhooks/deliveries/operations/redelivery'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { deliveriesText, unknownEndpoint } from './deliveriesText.ts'

export const webhooksEnable = defineCommand({
  summary: 'Enable an endpoint that was paused after a 410 response, and send its waiting deliveries',
  args: ['NODE'],
  audited: 'reason',
  json: 'one object: the endpoint and the number of waiting deliveries',
  about: [
    'An endpoint that responds 410 Gone is paused: it receives nothing until it is enabled here, and its deliveries are',
    'kept. The worker then sends them within seconds, each with a new retry schedule. Deliveries of an endpoint that is not',
    'configured wait until it is.',
  ],
  async run({ args: [node], open, audit }) {
    const pool = open.pool()
    const listed = await listEndpoints(pool, node)
    if (listed.length === 0) throw new OpsError(await unknownEndpoint(pool, node))
    await audit({ action: 'enable_webhook_endpoint', target: { kind: 'webhook_endpoint', id: node } })
    const enabled = await enableEndpoint(pool, node, new Date())
    if (enabled === undefined) throw new OpsError(await unknownEndpoint(pool, node))
    const json = { node, is_configured: listed.some((endpoint) => endpoint.is_configured), ...enabled }
    return { json, text: outcomeText(json) }
  },
})

type Outcome = EnabledEndpoint & { readonly node: string; readonly is_configured: boolean }

function outcomeText({ node, is_configured, disabled_at, held }: Outcome): string {
  if (disabled_at === null) return `Endpoint ${node} is not paused${is_configured ? '' : ', but it is not configured'}.`
  const since = disabled_at.toISOString()
  const [have, are] = held === 1 ? ['has', 'is'] : ['have', 'are']
  const what = held === 0 ? `no delivery has waited` : `${deliveriesText(held)} that ${have} waited`
  const when = held === 0 ? '' : ` ${are} sent ${is_configured ? 'now' : 'once it is'}`
  return `Endpoint ${node} is enabled${is_configured ? '' : ', but it is not configured'}: ${what} since ${since}${when}.`
}
