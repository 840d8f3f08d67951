// `webhooks enable`: sends to a paused endpoint again.
import { enableRoutes } from '@paylog/administration/webhooks/endpointActions'
import { listEndpoints } from '@paylog/webhooks/deliveries/operations/endpointList'
import { defineCommand } from '../defineCommand.ts'
import { deliveriesText, whenKnown } from './deliveriesText.ts'

type Enabled = { readonly disabled_at: string | null; readonly held: number }

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
  async run({ args: [node], open, api }) {
    const pool = open.pool()
    const call = await api(enableRoutes({ pool, now: () => new Date() }))
    const path = `/admin/webhook-endpoints/${encodeURIComponent(node)}/enable`
    const { disabled_at, held } = await whenKnown(pool, node, call<Enabled>('POST', path))
    const [listed] = await listEndpoints(pool, node)
    const json = { node, is_configured: listed?.is_configured === true, disabled_at, held }
    return { json, text: outcomeText(json) }
  },
})

function outcomeText({
  node,
  is_configured,
  disabled_at: since,
  held,
}: Enabled & { readonly node: string; readonly is_configured: boolean }): string {
  if (since === null) return `Endpoint ${node} is not paused${is_configured ? '' : ', but it is not configured'}.`
  const [have, are] = held === 1 ? ['has', 'is'] : ['have', 'are']
  const what = held === 0 ? `no delivery has waited` : `${deliveriesText(held)} that ${have} waited`
  const when = held === 0 ? '' : ` ${are} sent ${is_configured ? 'now' : 'once it is'}`
  return `Endpoint ${node} is enabled${is_configured ? '' : ', but it is not configured'}: ${what} since ${since}${when}.`
}
