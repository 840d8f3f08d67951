// Environment variables of the write API.

import { connectionString } from '@paylog/event-store/connection/connectionString'
import { identityVariables } from '@paylog/identity/identity'
import { dataKeyVariables } from '@paylog/privacy/startDataKeys'
import { ageMs, bool, durationMs, isOrigin, listOf, oneOf } from '@paylog/runtime/config/kinds'
import { startPageVariables } from '@paylog/runtime/http/pages/startPage'
import { loadWithEndpoints, type WithEndpoints, withoutSigningSecrets } from '@paylog/webhooks/endpoints/endpoints'
import { type StaticDecode, type TObject, Type } from 'typebox'
import { providerProblems, providerVariables } from './provider-calls/enabledProviders.ts'

/** Without the variables of the webhook endpoints, which have no fixed list. */
export const commandVariables = {
  EVENTSTORE_URL: connectionString(),
  ...dataKeyVariables,
  ...identityVariables,
  GUEST_TOKEN_HISTORY_FALLBACK: bool(true),
  GUEST_TOKEN_HISTORY_MAX_AGE: durationMs('24h'),
  /** Which sessions may send test webhooks. */
  WEBHOOK_TESTS_BY: oneOf(['session', 'admin'], 'session'),
  /** When an unpaid payment is canceled; 0 for never. */
  PAYMENT_EXPIRES_AFTER: ageMs('24h'),
  /** Where payers may be sent after the provider's page; empty for anywhere. */
  RETURN_URL_ORIGINS: listOf(isOrigin, 'origins such as https://shop.example.com', []),
  ...providerVariables,
  ...startPageVariables,
}

const CommandConfig = Type.Object(commandVariables)
export type CommandConfig = Readonly<StaticDecode<typeof CommandConfig>> & WithEndpoints

/**
 * Decodes the variables of an app with the write API, and the webhook endpoints, which test responses list.
 * @throws ConfigError naming every bad variable, and every missing credential of a partly configured provider
 */
export const loadCommandConfig = <Schema extends TObject>(schema: Schema, env: NodeJS.ProcessEnv) =>
  loadWithEndpoints(schema, withoutSigningSecrets(env), providerProblems)
