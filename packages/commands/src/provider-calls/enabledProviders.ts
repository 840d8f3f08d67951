// Creates the payment providers whose credentials are set in the environment.

import type { Provider } from '@paylog/providers/provider'
import type { ProviderMode } from '@paylog/providers/providerPlugin'
import { pluginVariables, providerPlugins } from '@paylog/providers/registry'
import { ConfigError, loadConfig } from '@paylog/runtime/config/environment'
import { integer } from '@paylog/runtime/config/kinds'
import { type StaticDecode, Type } from 'typebox'
import { type ObserveProviderCall, observedProvider } from './telemetry.ts'

export const providerVariables = {
  ...pluginVariables,
  /** Limit for one provider call, retries included. */
  PROVIDER_TIMEOUT_MS: integer(100, 15_000, 10_000),
}

const ProviderVariables = Type.Object(providerVariables)
export type ProviderConfig = Readonly<StaticDecode<typeof ProviderVariables>>

const plugins = Object.values(providerPlugins)

/** A provider of this build: `name` begins a sentence, and `mode` is null for one that is not enabled. */
export type KnownProvider = { readonly id: string; readonly name: string; readonly mode: ProviderMode | null }

/** All providers, in the order in which clients see them. */
export function knownProviders(config: ProviderConfig): readonly KnownProvider[] {
  const entries = Object.entries(providerPlugins)
  return entries.map(([id, { receiver, mode }]) => {
    const { provider: name } = receiver
    return { id, name: `${name.charAt(0).toUpperCase()}${name.slice(1)}`, mode: mode(config) }
  })
}

/** The names of the providers that have live credentials. */
export function liveProviders(config: ProviderConfig): readonly string[] {
  return knownProviders(config).flatMap(({ id, mode }) => (mode === 'live' ? [id] : []))
}

/** @returns one message for each missing credential of a partly configured provider, and for the sandbox beside live credentials */
export function credentialProblems(config: ProviderConfig): readonly string[] {
  const live = config.SANDBOX_PROVIDER ? liveProviders(config) : []
  const liveSandbox =
    live.length > 0 ? [`SANDBOX_PROVIDER must be false when live credentials are set (${live.join(', ')})`] : []
  return [...plugins.flatMap(({ problems }) => problems(config)), ...liveSandbox]
}

/**
 * The providers whose credentials are set, by id.
 * @param observers called after every provider call
 * @throws ConfigError with the `credentialProblems`
 */
export async function enabledProviders(
  config: ProviderConfig,
  ...observers: readonly ObserveProviderCall[]
): Promise<ReadonlyMap<string, Provider>> {
  const problems = credentialProblems(config)
  if (problems.length > 0) throw new ConfigError(problems)
  const created = await Promise.all(plugins.map(({ create }) => create(config, config.PROVIDER_TIMEOUT_MS)))
  const providers = created.filter((provider) => provider !== undefined)
  const observe: ObserveProviderCall = (end) => {
    for (const each of observers) each(end)
  }
  const observed = observers.length > 0 ? providers.map((provider) => observedProvider(provider, observe)) : providers
  return new Map(observed.map((provider) => [provider.id, provider]))
}

/** The `credentialProblems` of the variables that decode. Decoding the whole environment reports the others. */
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
