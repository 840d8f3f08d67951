// Real adapters before fakes of their providers, enabled as an operator enables them: by variables.
import { loadConfig } from '@paylog/config/environment'
import type { Provider } from '@paylog/providers/provider'
import { enabledProviders, providerVariables } from '@paylog/workflows/enabledProviders'
import type { Test } from 'tap'
import { Type } from 'typebox'

/** Long enough for a call that is repeated twice, and short enough to be waited for. */
export const patienceMs = 1_600

/** The one provider that these variables enable. Its connections end with the test. */
export async function providerFromEnv(t: Test, env: Readonly<Record<string, string>>): Promise<Provider> {
  const config = loadConfig(Type.Object(providerVariables), { PROVIDER_TIMEOUT_MS: String(patienceMs), ...env })
  const [provider, ...others] = (await enabledProviders(config)).values()
  if (!provider || others.length > 0) throw new Error('These variables do not enable exactly one provider')
  t.teardown(() => provider.close())
  return provider
}
