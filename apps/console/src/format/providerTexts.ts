// What the console says of each provider of this version.
import type { providerNames } from '@paylog/domain/providerEvents'

type ProviderTexts = {
  readonly name: string
  /** The provider's own page about keys and notifications. */
  readonly docs: string | null
  /** The variables that enable it. */
  readonly variables: readonly string[]
}

const texts: Readonly<Record<(typeof providerNames)[number], ProviderTexts>> = {
  stripe: {
    name: 'Stripe',
    docs: 'https://docs.stripe.com/webhooks',
    variables: ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
  },
  paypal: {
    name: 'PayPal',
    docs: 'https://developer.paypal.com/api/rest/webhooks/',
    variables: ['PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET', 'PAYPAL_WEBHOOK_ID'],
  },
  'authorize-net': {
    name: 'Authorize.Net',
    docs: 'https://developer.authorize.net/api/reference/features/webhooks.html',
    variables: ['AUTHORIZE_NET_API_LOGIN_ID', 'AUTHORIZE_NET_TRANSACTION_KEY', 'AUTHORIZE_NET_SIGNATURE_KEY'],
  },
  sandbox: { name: 'Sandbox', docs: null, variables: ['SANDBOX_PROVIDER'] },
}

/** @param id as `provider_id` of a payment; an unknown one is its own name */
export const providerTexts = (id: string): ProviderTexts =>
  Object.entries(texts).find(([known]) => known === id)?.[1] ?? { name: id, docs: null, variables: [] }

export const providerName = (id: string): string => providerTexts(id).name

/** What moves at a provider, after its name. */
export const modeTexts = {
  live: 'Live: real money moves',
  test: 'Test mode of the provider: no real money moves',
  sandbox: 'Built in, for trying out: no real money moves',
} as const
