// Environment variables of the operator API.

import { providerProblems, providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { identityVariables } from '@paylog/identity/identity'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import { isOrigin, listOf } from '@paylog/runtime/config/kinds'
import { apiVariables } from '@paylog/runtime/http/apiServer'
import { startPageVariables } from '@paylog/runtime/http/pages/startPage'
import { deliveryVariables } from '@paylog/webhooks/deliveries/variables'
import { loadWithEndpoints, type WithEndpoints, withoutSigningSecrets } from '@paylog/webhooks/endpoints/endpoints'
import { type StaticDecode, type TObject, Type } from 'typebox'

const { CONSOLE_SESSION_COOKIE } = apiVariables
const { DATABASE_URL, EVENTSTORE_URL, PROJECT_ID, PROJECT_IDS, WEBHOOK_LOG_RETENTION } = deliveryVariables

/** Without the variables of the webhook endpoints, which have no fixed list. */
export const operatorVariables = {
  CONSOLE_SESSION_COOKIE,
  DATABASE_URL,
  ...masterKeyVariables,
  EVENTSTORE_URL,
  ...identityVariables,
  // An erasure removes customers and saved methods at the providers.
  ...providerVariables,
  PROJECT_ID,
  PROJECT_IDS,
  WEBHOOK_LOG_RETENTION,
  /** The other processes whose readiness the system page shows. */
  HEALTH_URLS: listOf(isNamedUrl, 'names and URLs such as worker=http://127.0.0.1:8081', []),
  ...startPageVariables,
}

const OperatorConfig = Type.Object(operatorVariables)
export type OperatorConfig = Readonly<StaticDecode<typeof OperatorConfig>> & WithEndpoints

/**
 * Decodes the variables of a process with the operator API.
 * @throws ConfigError naming every bad variable, and every missing credential of a partly configured provider
 */
export const loadOperatorConfig = <Schema extends TObject>(schema: Schema, env: NodeJS.ProcessEnv) =>
  loadWithEndpoints(schema, withoutSigningSecrets(env), providerProblems)

/** `name=url`, the URL without a path. */
function isNamedUrl(word: string): boolean {
  const [, url] = /^[a-z0-9-]+=(.+)$/.exec(word) ?? []
  return url !== undefined && isOrigin(url)
}
