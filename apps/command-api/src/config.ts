// The variables of the write side, and the parts that they describe.

import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox'
import { bool, ConfigError, commaList, text, url } from '@paylog/runtime/config'
import { type StaticDecode, Type } from 'typebox'

export const commandVariables = {
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  AUTH_URL: url(['http', 'https']),
  AUTH_SERVICE: text('payments'),
  ADMIN_USER_TYPES: commaList(['admin']),
  SANDBOX_PROVIDER: bool(false),
  /** Several, comma-separated, while a secret is being replaced. */
  SANDBOX_WEBHOOK_SECRET: Type.Optional(commaList()),
}

const CommandConfig = Type.Object(commandVariables)
export type CommandConfig = Readonly<StaticDecode<typeof CommandConfig>>

/**
 * The providers whose credentials are set.
 * @throws ConfigError when a provider is asked for and its credentials are incomplete
 */
export function enabledProviders(config: CommandConfig): ReadonlyMap<string, Provider> {
  const providers: Provider[] = []
  if (config.SANDBOX_PROVIDER) {
    const webhookSecrets = config.SANDBOX_WEBHOOK_SECRET ?? []
    if (webhookSecrets.length === 0)
      throw new ConfigError(['SANDBOX_WEBHOOK_SECRET is required when SANDBOX_PROVIDER is true'])
    providers.push(createSandbox({ webhookSecrets }))
  }
  return new Map(providers.map((provider) => [provider.id, provider]))
}
