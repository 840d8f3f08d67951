// The providers as the environment describes them: each is enabled when its credentials are set.
import { ConfigError, loadConfig } from '@paylog/config/environment'
import { integer } from '@paylog/config/kinds'
import type { Provider } from '@paylog/providers/provider'
import { pluginVariables, providerPlugins } from '@paylog/providers/registry'
import { type StaticDecode, Type } from 'typebox'
import { type ObserveProviderCall, observedProvider } from './telemetry.ts'

export const providerVariables = {
  ...pluginVariables,
  /** All tries of one call together. */
  PROVIDER_TIMEOUT_MS: integer(100, 15_000, 10_000),
}

const ProviderConfig = Type.Object(providerVariables)
export type ProviderConfig = Readonly<StaticDecode<typeof ProviderConfig>>

const plugins = Object.values(providerPlugins)

/** The providers with live credentials, by name. */
export function liveProviders(config: ProviderConfig): readonly string[] {
  return Object.entries(providerPlugins).flatMap(([name, { isLive }]) => (isLive(config) ? [name] : []))
}

/** One sentence for every credential that is missing beside others, and one for the sandbox beside live credentials. */
export function credentialProblems(config: ProviderConfig): readonly string[] {
  const live = config.SANDBOX_PROVIDER ? liveProviders(config) : []
  const beside = live.length > 0 ? [`SANDBOX_PROVIDER must be false beside live credentials (${live.join(', ')})`] : []
  return [...plugins.flatMap(({ problems }) => problems(config)), ...beside]
}

/**
 * The providers whose credentials are set, by their id.
 * @param observe is told how each of their calls ended
 * @throws ConfigError with the `credentialProblems`
 */
export async function enabledProviders(
  config: ProviderConfig,
  observe?: ObserveProviderCall,
): Promise<ReadonlyMap<string, Provider>> {
  const problems = credentialProblems(config)
  if (problems.length > 0) throw new ConfigError(problems)
  const created = await Promise.all(plugins.map(({ create }) => create(config, config.PROVIDER_TIMEOUT_MS)))
  const providers = created.filter((provider) => provider !== undefined)
  const observed = observe ? providers.map((provider) => observedProvider(provider, observe)) : providers
  return new Map(observed.map((provider) => [provider.id, provider]))
}

// What is wrong with the providers' credentials, for whoever tells it together with everything else.

const ProviderVariables = Type.Object(providerVariables)

/** What is missing beside the variables that can be read; of the others the decoding of the whole environment tells. */
export function providerProblems(env: NodeJS.ProcessEnv): readonly string[] {
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
