// The variables of the write side.
import { loadConfig, readVariableFiles } from '@paylog/config/environment'
import { bool, durationMs, oneOf, url } from '@paylog/config/kinds'
import { identityVariables } from '@paylog/identity/identity'
import {
  decodeEndpoints,
  isWebhookVariable,
  type WebhookEndpoint,
  withoutSigningSecrets,
} from '@paylog/webhooks/endpoints/endpoints'
import { providerProblems, providerVariables } from '@paylog/workflows/enabledProviders'
import { type StaticDecode, type TObject, Type } from 'typebox'

/** Beside these the write side reads those of the webhook nodes, which have no fixed list. */
export const commandVariables = {
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  ...identityVariables,
  GUEST_TOKEN_HISTORY_FALLBACK: bool(true),
  GUEST_TOKEN_HISTORY_MAX_AGE: durationMs('24h'),
  /** Whose sessions may try webhook endpoints out. */
  WEBHOOK_TESTS_BY: oneOf(['session', 'admin'], 'session'),
  ...providerVariables,
}

const CommandConfig = Type.Object(commandVariables)
type WithEndpoints = { readonly endpoints: readonly WebhookEndpoint[] }
export type CommandConfig = Readonly<StaticDecode<typeof CommandConfig>> & WithEndpoints

/**
 * Decodes the variables of an app that the write side is part of, and with them those of the webhook nodes, as the worker
 * does, but without what they are signed with: who tries his endpoints out is told which of them will hear of it.
 * @throws ConfigError naming every bad variable, and every credential of a provider that is missing beside others
 */
export function loadWithEndpoints<Schema extends TObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
): Readonly<StaticDecode<Schema>> & WithEndpoints {
  const given = readVariableFiles(
    withoutSigningSecrets(env),
    (name) => name in schema.properties || isWebhookVariable(name),
  )
  const { endpoints, problems } = decodeEndpoints(given.env)
  const further = [...given.problems, ...problems, ...providerProblems(given.env)]
  return { ...loadConfig(schema, given.env, further), endpoints }
}
