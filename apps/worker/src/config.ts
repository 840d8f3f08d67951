// Everything the worker is told by its environment.
import { listOf, loadConfig, oneOf, text, url } from '@paylog/runtime/config'
import { decodeNodes, type WebhookNode } from '@paylog/webhooks/nodes'
import { type StaticDecode, Type } from 'typebox'
import { isCidr } from './send/dialGuard.ts'

const WorkerVariables = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  PROJECT_ID: text('default'),
  WEBHOOK_SUCCESS_STATUS: oneOf(['200', '2xx'], '200'),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: listOf(isCidr, 'ranges such as 10.0.0.0/8,::1/128', []),
})

export type WorkerConfig = Readonly<StaticDecode<typeof WorkerVariables>> & { readonly nodes: readonly WebhookNode[] }

/** @throws ConfigError naming every bad variable, those of the webhook nodes included */
export function loadWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const { nodes, problems } = decodeNodes(env)
  return { ...loadConfig(WorkerVariables, env, problems), nodes }
}
