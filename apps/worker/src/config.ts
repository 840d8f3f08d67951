// Everything the worker is told by its environment.
import { parseDurationMs } from '@paylog/domain/duration'
import { ageMs, ConfigError, durationMs, listOf, loadConfig, oneOf, port, text, url } from '@paylog/runtime/config'
import { type DecodedNodes, decodeNodes } from '@paylog/webhooks/nodes'
import { credentialProblems, providerVariables } from '@paylog/workflows/enabledProviders'
import { type StaticDecode, Type } from 'typebox'
import { isCidr } from './send/dialGuard.ts'

const ProviderVariables = Type.Object(providerVariables)

/** Beside these the worker reads those of the webhook nodes, which have no fixed list. */
export const workerVariables = {
  HOST: text('127.0.0.1'),
  HEALTH_PORT: Type.Optional(port()),
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  PROJECT_ID: text('default'),
  WEBHOOK_SUCCESS_STATUS: oneOf(['200', '2xx'], '200'),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: listOf(isCidr, 'ranges such as 10.0.0.0/8,::1/128', []),
  WEBHOOK_LOG_RETENTION: ageMs('90d'),
  PAYMENT_RECONCILE_AFTER: durationMs('1h'),
  ...providerVariables,
}
const WorkerVariables = Type.Object(workerVariables)

export type WorkerConfig = Readonly<StaticDecode<typeof WorkerVariables>> & Pick<DecodedNodes, 'nodes' | 'warnings'>

/** Without a pause between them the questions about one payment would never end. */
const shortestReconcileAfterMs = 1_000

/** @throws ConfigError naming every bad variable, those of the webhook nodes and of the providers included */
export function loadWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const { nodes, problems, warnings } = decodeNodes(env)
  const further = [...problems, ...reconcileProblems(env), ...providerProblems(env)]
  return { ...loadConfig(WorkerVariables, env, further), nodes, warnings }
}

function reconcileProblems({ PAYMENT_RECONCILE_AFTER: given = '' }: NodeJS.ProcessEnv): readonly string[] {
  const isTooShort = (parseDurationMs(given) ?? shortestReconcileAfterMs) < shortestReconcileAfterMs
  return isTooShort ? ['PAYMENT_RECONCILE_AFTER must be at least 1s'] : []
}

/** What is missing beside the variables that can be read; of the others the main decoding tells. */
function providerProblems(env: NodeJS.ProcessEnv): readonly string[] {
  const unreadable = Object.keys(providerVariables).filter((name) => !isReadable(name, env))
  const readable = Object.entries(env).filter(([name]) => !unreadable.includes(name))
  return credentialProblems(loadConfig(ProviderVariables, Object.fromEntries(readable)))
}

function isReadable(name: string, env: NodeJS.ProcessEnv): boolean {
  try {
    loadConfig(ProviderVariables, { [name]: env[name] })
    return true
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}
