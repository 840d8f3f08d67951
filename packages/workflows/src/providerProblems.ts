// What is wrong with the providers' credentials, for whoever tells it together with everything else.
import { ConfigError, loadConfig } from '@paylog/config/environment'
import { Type } from 'typebox'
import { credentialProblems, providerVariables } from './enabledProviders.ts'

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
