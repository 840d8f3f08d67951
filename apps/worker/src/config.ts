// The worker's configuration.
import { loadConfig, readVariableFiles } from '@paylog/config/environment'
import { port, text } from '@paylog/config/kinds'
import { deliveryVariables } from '@paylog/deliveries/variables'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import { type DecodedEndpoints, decodeEndpoints, isWebhookVariable } from '@paylog/webhooks/endpoints/endpoints'
import { providerProblems, providerVariables } from '@paylog/workflows/enabledProviders'
import { reconcileProblems, reconcileVariables } from '@paylog/workflows/reconcileVariables'
import { type StaticDecode, Type } from 'typebox'
import { retentionVariables } from './retention/variables.ts'

const WorkerVariables = Type.Object({
  HOST: text('127.0.0.1'),
  HEALTH_PORT: Type.Optional(port()),
  ...deliveryVariables,
  ...masterKeyVariables,
  ...reconcileVariables,
  ...retentionVariables,
  ...providerVariables,
})

export type WorkerConfig = Readonly<StaticDecode<typeof WorkerVariables>> &
  Pick<DecodedEndpoints, 'endpoints' | 'warnings'>

/** @throws ConfigError naming every bad variable, those of the endpoints and of the providers included */
export function loadWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const given = readVariableFiles(env, (name) => name in WorkerVariables.properties || isWebhookVariable(name))
  const { endpoints, problems, warnings } = decodeEndpoints(given.env)
  const further = [...given.problems, ...problems, ...reconcileProblems(given.env), ...providerProblems(given.env)]
  return { ...loadConfig(WorkerVariables, given.env, further), endpoints, warnings }
}
