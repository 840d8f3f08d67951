// Everything the worker is told by its environment.
import { loadConfig, readVariableFiles } from '@paylog/config/environment'
import { ageMs, commaList, durationMs, listOf, oneOf, port, text, url } from '@paylog/config/kinds'
import { parseDurationMs } from '@paylog/domain/duration'
import { isRange } from '@paylog/runtime/http/networks'
import { type DecodedNodes, decodeNodes, isWebhookVariable } from '@paylog/webhooks/nodes/nodes'
import { providerVariables } from '@paylog/workflows/enabledProviders'
import { providerProblems } from '@paylog/workflows/providerProblems'
import { type StaticDecode, Type } from 'typebox'

/** Beside these the worker reads those of the webhook nodes, which have no fixed list. */
export const workerVariables = {
  HOST: text('127.0.0.1'),
  HEALTH_PORT: Type.Optional(port()),
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  PROJECT_ID: text('default'),
  /** Those that a payer without a session may name. */
  PROJECT_IDS: commaList([]),
  WEBHOOK_SUCCESS_STATUS: oneOf(['200', '2xx'], '200'),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: listOf(isRange, 'ranges such as 10.0.0.0/8,::1/128', []),
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
  const given = readVariableFiles(env, (name) => name in workerVariables || isWebhookVariable(name))
  const { nodes, problems, warnings } = decodeNodes(given.env)
  const further = [...given.problems, ...problems, ...reconcileProblems(given.env), ...providerProblems(given.env)]
  return { ...loadConfig(WorkerVariables, given.env, further), nodes, warnings }
}

function reconcileProblems({ PAYMENT_RECONCILE_AFTER: given = '' }: NodeJS.ProcessEnv): readonly string[] {
  const isTooShort = (parseDurationMs(given) ?? shortestReconcileAfterMs) < shortestReconcileAfterMs
  return isTooShort ? ['PAYMENT_RECONCILE_AFTER must be at least 1s'] : []
}
