// Decodes the variables of a process that lists webhook endpoints but sends nothing to them.
import { loadConfig, readVariableFiles } from '@paylog/config/environment'
import type { StaticDecode, TObject } from 'typebox'
import { decodeEndpoints, isWebhookVariable, type WebhookEndpoint, withoutSigningSecrets } from './endpoints.ts'

export type WithEndpoints = { readonly endpoints: readonly WebhookEndpoint[] }

/**
 * Decodes the variables of a schema, and the webhook endpoints. Their signing secrets are not read: only the worker needs
 * them.
 * @param problemsOf further problems of the environment, with the values of `*_FILE` variables in place
 * @throws ConfigError naming every bad variable
 */
export function loadWithEndpoints<Schema extends TObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  problemsOf: (env: NodeJS.ProcessEnv) => readonly string[] = () => [],
): Readonly<StaticDecode<Schema>> & WithEndpoints {
  const variables = readVariableFiles(
    withoutSigningSecrets(env),
    (name) => name in schema.properties || isWebhookVariable(name),
  )
  const { endpoints, problems } = decodeEndpoints(variables.env)
  const further = [...variables.problems, ...problems, ...problemsOf(variables.env)]
  return { ...loadConfig(schema, variables.env, further), endpoints }
}
