// `webhooks enable`: lets a node get messages again that answered that it is gone.
import { loadConfig, url } from '@paylog/runtime/config'
import { enableNode } from '@paylog/worker/operations/enabling'
import { Type } from 'typebox'
import { type Command, OpsError, readArguments } from '../command.ts'
import { deliveries, unknownNode, withDatabase } from './database.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

export const webhooksEnable: Command = {
  name: 'webhooks enable',
  usage: 'NODE [--json]',
  summary: 'Send to a node again that was disabled by its answer 410, what was held first of all',
  details: [
    'A node that answers 410 Gone gets nothing until it is enabled here; its deliveries are held meanwhile.',
    'The worker sends them within seconds, each with a schedule of retries that begins anew.',
  ].join('\n'),
  async run(args, { environment, print }) {
    const { values, positionals } = readArguments(args, ['NODE'], { json: { type: 'boolean' } })
    const [node] = positionals
    const { DATABASE_URL } = loadConfig(Config, environment)
    await withDatabase(DATABASE_URL, async (pool) => {
      const enabled = await enableNode(pool, node, new Date())
      if (enabled === undefined) throw new OpsError(await unknownNode(pool, node))
      const { disabled_at, held } = enabled
      if (values.json) await print(JSON.stringify({ node, disabled_at, held }))
      else if (disabled_at === null) await print(`Node ${node} is not disabled.`)
      else await print(`Node ${node} is enabled: ${deliveries(held)} held since ${disabled_at.toISOString()}.`)
    })
  },
}
