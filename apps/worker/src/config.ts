// Room: worker. Everything the worker is told by its environment.
import { ConfigError, commaList, loadConfig, oneOf, text, url } from '@paylog/runtime/config'
import { decodeNodes, type WebhookNode } from '@paylog/webhooks/nodes'
import { Type } from 'typebox'
import { isCidr } from './send/dialGuard.ts'

const WorkerVariables = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover', 'kurrentdb', 'kurrentdb+discover']),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  PROJECT_ID: text('default'),
  WEBHOOK_SUCCESS_STATUS: oneOf(['200', '2xx'], '200'),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: commaList([]),
})

export type WorkerConfig = ReturnType<typeof loadVariables> & { readonly nodes: readonly WebhookNode[] }

/** @throws ConfigError naming every bad variable, those of the webhook nodes included */
export function loadWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const { nodes, problems } = decodeNodes(env)
  try {
    const variables = loadVariables(env)
    if (problems.length > 0) throw new ConfigError('Bad configuration')
    return { ...variables, nodes }
  } catch (error) {
    // One message for all of them: nobody wants to start a program once per mistake.
    if (error instanceof ConfigError && problems.length > 0)
      throw new ConfigError(`${error.message}${error.message.includes(':') ? ';' : ':'} ${problems.join('; ')}`, {
        cause: error,
      })
    throw error
  }
}

function loadVariables(env: NodeJS.ProcessEnv) {
  const variables = loadConfig(WorkerVariables, env)
  if (!variables.WEBHOOK_ALLOWED_PRIVATE_CIDRS.every(isCidr))
    throw new ConfigError('Bad configuration: WEBHOOK_ALLOWED_PRIVATE_CIDRS must be ranges such as 10.0.0.0/8,::1/128')
  return variables
}
