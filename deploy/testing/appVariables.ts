// The variables that each app decodes, without those of the webhook endpoints, which have no fixed list.
import { operatorVariables } from '@paylog/administration/config'
import { auditVariables } from '@paylog/audit-log/config'
import { commandVariables } from '@paylog/commands/config'
import { providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { reconcileVariables } from '@paylog/commands/provider-calls/reconcileVariables'
import { retentionVariables } from '@paylog/privacy/buckets'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { queryVariables } from '@paylog/queries/config'
import { port, text } from '@paylog/runtime/config/kinds'
import { apiVariables } from '@paylog/runtime/http/apiServer'
import { processVariables } from '@paylog/runtime/process/lifecycle'
import { tracingVariables } from '@paylog/runtime/telemetry/tracing'
import { deliveryVariables } from '@paylog/webhooks/deliveries/variables'

const everywhere = { ...processVariables, ...tracingVariables }
const healthPage = { HOST: text('127.0.0.1'), HEALTH_PORT: port() }
const { EVENTSTORE_URL } = deliveryVariables

/** The schemas of the variables, by name, of the apps of `docker-compose.yml`. */
export const appVariables = {
  'command-api': { ...everywhere, ...apiVariables, ...commandVariables },
  'query-api': { ...everywhere, ...apiVariables, ...queryVariables },
  'operator-api': { ...everywhere, ...apiVariables, ...operatorVariables },
  projector: { ...everywhere, ...healthPage, ...dataKeyVariables, EVENTSTORE_URL, ...auditVariables },
  worker: {
    ...everywhere,
    ...healthPage,
    ...deliveryVariables,
    ...masterKeyVariables,
    ...reconcileVariables,
    ...retentionVariables,
    ...providerVariables,
  },
}
