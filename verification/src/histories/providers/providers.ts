// The simulated providers by name.
import type { Books } from '../books.ts'
import { openAuthorizeNet } from './authorizeNet.ts'
import { openPaypal } from './paypal.ts'
import { openSandbox } from './sandbox.ts'
import { openStripe } from './stripe.ts'

export const providerNames = ['stripe', 'sandbox', 'paypal', 'authorize-net'] as const
export type ProviderName = (typeof providerNames)[number]

export const openBooks: Readonly<Record<ProviderName, () => Promise<Books>>> = {
  stripe: openStripe,
  sandbox: openSandbox,
  paypal: openPaypal,
  'authorize-net': openAuthorizeNet,
}
