// Test support: the adapters connected to fake providers, and simulated notifications.
import { loadConfig } from '@paylog/config/environment'
import type { FakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { FakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import { Type } from 'typebox'
import { createAuthorizeNet } from '../authorize-net/authorizeNet.ts'
import { createPace } from '../pacing.ts'
import { createPaypal } from '../paypal/paypal.ts'
import type { Provider } from '../provider.ts'
import type { ProviderObject } from '../providerPlugin.ts'
import { pluginVariables, providerPlugins } from '../registry.ts'
import { type Simulator, simulators } from '../simulation.ts'
import { createStripe } from '../stripe/stripe.ts'

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

/** Without a rate limit by default. */
type CallLimits = { readonly timeoutMs?: number; readonly maxPerSecond?: number }
const defaultTimeoutMs = 5_000

/** The provider that these variables enable. */
export async function connect(
  t: Test,
  env: Readonly<Record<string, string>>,
  { timeoutMs = defaultTimeoutMs }: Pick<CallLimits, 'timeoutMs'> = {},
): Promise<Provider> {
  const settings = loadConfig(Type.Object(pluginVariables), env)
  const created = await Promise.all(Object.values(providerPlugins).map(({ create }) => create(settings, timeoutMs)))
  const [provider, ...others] = created.filter((each) => each !== undefined)
  if (!provider || others.length > 0) throw new Error('expected the variables of one provider')
  return closing(t, provider)
}

type StripeAccount = Pick<FakeStripe, 'origin' | 'secretKey' | 'webhookSecret'>

export function connectStripe(
  t: Test,
  { origin: apiBase, secretKey, webhookSecret }: StripeAccount,
  { timeoutMs = defaultTimeoutMs, maxPerSecond = 0 }: CallLimits = {},
): Provider {
  return closing(t, createStripe({ secretKey, webhookSecrets: [webhookSecret], apiBase, timeoutMs, maxPerSecond }))
}

type PaypalAccount = Pick<FakePaypal, 'apiBase' | 'clientId' | 'clientSecret' | 'webhookIds'>

export function connectPaypal(
  t: Test,
  { apiBase, clientId, clientSecret, webhookIds }: PaypalAccount,
  { timeoutMs = defaultTimeoutMs, maxPerSecond = 0 }: CallLimits = {},
): Provider {
  return closing(t, createPaypal({ apiBase, clientId, clientSecret, webhookIds, timeoutMs, maxPerSecond }))
}

type AuthorizeNetAccount = Pick<FakeAuthorizeNet, 'origin' | 'apiLoginId' | 'transactionKey' | 'signatureKey'>

export function connectAuthorizeNet(
  t: Test,
  { origin: apiBase, apiLoginId, transactionKey, signatureKey }: AuthorizeNetAccount,
  { timeoutMs = defaultTimeoutMs, maxPerSecond = 0 }: CallLimits = {},
): Provider {
  const account = { apiLoginId, transactionKey, signatureKeys: [signatureKey] }
  return closing(
    t,
    createAuthorizeNet({
      ...account,
      apiBase,
      pageUrl: null,
      hostedFormUrl: 'https://test.authorize.net/payment/payment',
      timeoutMs,
      maxPerSecond,
    }),
  )
}

/** Closes the provider with its test. */
function closing(t: Test, provider: Provider): Provider {
  t.teardown(() => provider.close())
  return provider
}
