// `webhooks enable`: lets a node get messages again that answered that it is gone.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { listEndpoints } from '@paylog/deliveries/operations/deliveryList'
import { type EnabledEndpoint, enableEndpoint } from '@paylog/deliveries/operations/redelivery'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import { deliveriesText, unknownEndpoint, withDeliveries } from '../database.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

export const webhooksEnable: CliCommand = {
  usage: 'NODE [--json]',
  summary: 'Send to a node again that was disabled by its answer 410, what was held first of all',
  details: [
    '  --json  one object: the node and how many deliveries were held',
    '',
    'A node that answers 410 Gone gets nothing until it is enabled here; its deliveries are held meanwhile.',
    'The worker sends them within seconds, each with a schedule of retries that begins anew; those of a node that is not',
    'configured wait until it is.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readArguments(args, ['NODE'], { json: { type: 'boolean' } })
    const [node] = positionals
    const { DATABASE_URL } = loadConfig(Config, environment)
    await withDeliveries(DATABASE_URL, errors, async (pool) => {
      const enabled = await enableEndpoint(pool, node, new Date())
      if (enabled === undefined) throw new OpsError(await unknownEndpoint(pool, node))
      const is_configured = (await listEndpoints(pool, node)).some((listed) => listed.is_configured)
      const outcome = { node, is_configured, ...enabled }
      await print(values.json ? JSON.stringify(outcome) : outcomeText(outcome))
    })
  },
}

type Outcome = EnabledEndpoint & { readonly node: string; readonly is_configured: boolean }

function outcomeText({ node, is_configured, disabled_at, held }: Outcome): string {
  if (disabled_at === null) return `Node ${node} is not disabled${is_configured ? '' : ', but not configured either'}.`
  const since = disabled_at.toISOString()
  const [were, go] = held === 1 ? ['was', 'goes'] : ['were', 'go']
  const what =
    held === 0 ? `nothing was held since ${since}` : `${deliveriesText(held)} that ${were} held since ${since}`
  const when = held === 0 ? '' : ` ${go} out ${is_configured ? 'now' : 'once it is'}`
  return `Node ${node} is enabled${is_configured ? '' : ', but it is not configured'}: ${what}${when}.`
}
