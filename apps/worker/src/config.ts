// The worker's configuration.

import { providerProblems, providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { reconcileProblems, reconcileVariables } from '@paylog/commands/provider-calls/reconcileVariables'
import { retentionVariables } from '@paylog/privacy/buckets'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import { port, text } from '@paylog/runtime/config/kinds'
import { deliveryVariables } from '@paylog/webhooks/deliveries/variables'
import { loadWithEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'

const WorkerVariables = Type.Object({
  HOST: text('127.0.0.1'),
  HEALTH_PORT: Type.Optional(port()),
  ...deliveryVariables,
  ...masterKeyVariables,
  ...reconcileVariables,
  ...retentionVariables,
  ...providerVariables,
})

export type WorkerConfig = ReturnType<typeof loadWorkerConfig>

/** @throws ConfigError naming every bad variable, those of the endpoints and of the providers included */
export const loadWorkerConfig = (env: NodeJS.ProcessEnv) =>
  loadWithEndpoints(WorkerVariables, env, (given) => [...reconcileProblems(given), ...providerProblems(given)])
