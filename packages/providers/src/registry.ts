// All providers, in the order in which clients see them.
import type { ProviderName } from '@paylog/domain/providerEvents'
import { authorizeNet } from './authorize-net/plugin.ts'
import { paypal } from './paypal/plugin.ts'
import { sandbox } from './sandbox/plugin.ts'
import { stripe } from './stripe/plugin.ts'

export const providerPlugins = {
  stripe,
  paypal,
  'authorize-net': authorizeNet,
  sandbox,
} satisfies Readonly<Record<ProviderName, unknown>>

/** The environment variables of all providers. */
export const pluginVariables = {
  ...stripe.variables,
  ...paypal.variables,
  ...authorizeNet.variables,
  ...sandbox.variables,
}
