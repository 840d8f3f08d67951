// The providers as the environment describes them: each is enabled when its credentials are set.
import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox'
import { bool, ConfigError, commaList, integer, origin, text } from '@paylog/runtime/config'
import { type StaticDecode, Type } from 'typebox'
import { type ObserveProviderCall, observedProvider } from './observedProvider.ts'

/** What signs a provider's notifications may be several, comma-separated, while it is being replaced. */
export const providerVariables = {
  STRIPE_SECRET_KEY: Type.Optional(text()),
  STRIPE_WEBHOOK_SECRET: Type.Optional(commaList()),
  STRIPE_API_BASE: origin('https://api.stripe.com'),
  PAYPAL_CLIENT_ID: Type.Optional(text()),
  PAYPAL_CLIENT_SECRET: Type.Optional(text()),
  PAYPAL_WEBHOOK_ID: Type.Optional(commaList()),
  PAYPAL_API_BASE: origin('https://api-m.paypal.com'),
  AUTHORIZE_NET_API_LOGIN_ID: Type.Optional(text()),
  AUTHORIZE_NET_TRANSACTION_KEY: Type.Optional(text()),
  AUTHORIZE_NET_SIGNATURE_KEY: Type.Optional(commaList()),
  AUTHORIZE_NET_API_BASE: origin('https://api.authorize.net'),
  SANDBOX_PROVIDER: bool(false),
  SANDBOX_WEBHOOK_SECRET: Type.Optional(commaList()),
  /** All tries of one call together. */
  PROVIDER_TIMEOUT_MS: integer(100, 15_000, 10_000),
}

const ProviderConfig = Type.Object(providerVariables)
export type ProviderConfig = Readonly<StaticDecode<typeof ProviderConfig>>

type Variable = keyof ProviderConfig
type With<Name extends Variable> = ProviderConfig & { readonly [Key in Name]: NonNullable<ProviderConfig[Key]> }

type Recipe = {
  readonly credentials: readonly Variable[]
  /** `undefined` when a credential is missing. */
  readonly create: (config: ProviderConfig) => Promise<Provider> | undefined
}

/** Builds a provider from its credentials. Either all of them are set or none. */
function recipe<Name extends Variable>(
  credentials: readonly Name[],
  create: (config: With<Name>) => Promise<Provider>,
): Recipe {
  const isComplete = (config: ProviderConfig): config is With<Name> => credentials.every((name) => isSet(config[name]))
  return { credentials, create: (config) => (isComplete(config) ? create(config) : undefined) }
}

// Loaded only when they are enabled: the packages behind them take longer to load than most of our programs.
const recipes: readonly Recipe[] = [
  recipe(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'], async (config) => {
    const { createStripe } = await import('@paylog/providers/stripe/stripe')
    return createStripe({
      secretKey: config.STRIPE_SECRET_KEY,
      webhookSecrets: config.STRIPE_WEBHOOK_SECRET,
      apiBase: config.STRIPE_API_BASE,
      timeoutMs: config.PROVIDER_TIMEOUT_MS,
    })
  }),
  recipe(['PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET', 'PAYPAL_WEBHOOK_ID'], async (config) => {
    const { createPaypal } = await import('@paylog/providers/paypal/paypal')
    return createPaypal({
      clientId: config.PAYPAL_CLIENT_ID,
      clientSecret: config.PAYPAL_CLIENT_SECRET,
      webhookIds: config.PAYPAL_WEBHOOK_ID,
      apiBase: config.PAYPAL_API_BASE,
      timeoutMs: config.PROVIDER_TIMEOUT_MS,
    })
  }),
  recipe(
    ['AUTHORIZE_NET_API_LOGIN_ID', 'AUTHORIZE_NET_TRANSACTION_KEY', 'AUTHORIZE_NET_SIGNATURE_KEY'],
    async (config) => {
      const { createAuthorizeNet } = await import('@paylog/providers/authorize-net/authorizeNet')
      return createAuthorizeNet({
        apiLoginId: config.AUTHORIZE_NET_API_LOGIN_ID,
        transactionKey: config.AUTHORIZE_NET_TRANSACTION_KEY,
        signatureKeys: config.AUTHORIZE_NET_SIGNATURE_KEY,
        apiBase: config.AUTHORIZE_NET_API_BASE,
        timeoutMs: config.PROVIDER_TIMEOUT_MS,
      })
    },
  ),
]

/** One sentence for every credential that is missing beside others. */
export function credentialProblems(config: ProviderConfig): readonly string[] {
  const problems = recipes.flatMap(({ credentials }) => missingBeside(config, credentials))
  if (config.SANDBOX_PROVIDER && !isSet(config.SANDBOX_WEBHOOK_SECRET))
    problems.push('SANDBOX_WEBHOOK_SECRET is required when SANDBOX_PROVIDER is true')
  return problems
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
  const providers = await Promise.all(recipes.flatMap(({ create }) => create(config) ?? []))
  const { SANDBOX_PROVIDER: isSandboxOn, SANDBOX_WEBHOOK_SECRET: webhookSecrets } = config
  if (isSandboxOn && webhookSecrets) providers.push(createSandbox({ webhookSecrets }))
  const observed = observe ? providers.map((provider) => observedProvider(provider, observe)) : providers
  return new Map(observed.map((provider) => [provider.id, provider]))
}

function missingBeside(config: ProviderConfig, credentials: readonly Variable[]): string[] {
  const given = credentials.filter((name) => isSet(config[name]))
  if (given.length === 0) return []
  return credentials
    .filter((name) => !given.includes(name))
    .map((name) => `${name} is required when ${given.join(' and ')} is set`)
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined
}
