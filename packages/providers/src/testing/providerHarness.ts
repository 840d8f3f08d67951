// Test support: the adapters connected to fake providers, and simulated notifications.
import { loadConfig } from '@paylog/runtime/config/environment'
import type { Test } from 'tap'
import { Type } from 'typebox'
import { createPace } from '../pacing.ts'
import type { Provider } from '../provider.ts'
import type { ProviderObject } from '../providerPlugin.ts'
import { pluginVariables, providerPlugins } from '../registry.ts'
import { type Simulator, simulators } from '../simulation.ts'

/** Starts calls at once and gives up when the call's own time is over. */
export const unlimitedPace = createPace({ perSecond: 0, patienceMs: 0 })

export const simulatedId = '018f0000-0000-7000-8000-000000000001'
export const simulatedAt = new Date('2026-01-02T03:04:05.678Z')

export function simulatorOf(provider: string): Simulator {
  const simulator = simulators.get(provider)
  if (!simulator) throw new Error(provider)
  return simulator
}

export function simulate(provider: string, type: string, object: ProviderObject, generic_type: string | null = null) {
  return simulatorOf(provider).simulate({ type, generic_type, payload: object, id: simulatedId, at: simulatedAt })
}

/** An adapter in its tests. A call of a capability that it lacks fails. */
export type ConnectedProvider = { readonly [Name in keyof Provider]-?: NonNullable<Provider[Name]> }

/** The provider that these variables enable, such as the `env` of a fake. Closed with the test. */
export async function connect(
  t: Test,
  env: Readonly<Record<string, string>>,
  { timeoutMs = 5_000 }: { readonly timeoutMs?: number | undefined } = {},
): Promise<ConnectedProvider> {
  const settings = loadConfig(Type.Object(pluginVariables), env)
  const created = await Promise.all(Object.values(providerPlugins).map(({ create }) => create(settings, timeoutMs)))
  const [provider, ...others] = created.filter((each) => each !== undefined)
  if (!provider || others.length > 0) throw new Error('expected the variables of one provider')
  t.teardown(() => provider.close())
  return provider as ConnectedProvider
}
