// Real adapters before fakes of their providers, enabled as an operator enables them: by variables.
import { loadConfig } from '@paylog/config/environment'
import type { Provider } from '@paylog/providers/provider'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FaultPlan } from '@paylog/testing/fakeServer'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
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

// The fakes of the real providers as the saving of payment methods sees them: one kind of thing, whatever their words are.

export type FakeMethodProvider = {
  readonly id: string
  readonly env: Readonly<Record<string, string>>
  /** Of calls that change something. */
  readonly faults: FaultPlan
  /** The payer's form hands out a token of a card that nobody has saved. */
  token(): string
  /** The payer fills in the form once more, with the card of an earlier token. */
  tokenAgain(token: string): string
  /** What the token of such a card is shown as. */
  readonly shown: object
  /** How often a method was attached, a customer was made (`null` where they come with their methods), a method detached. */
  attached(): number
  customers(): number | null
  detached(): number
  /** How many calls have asked for one of these. */
  attachCalls(): number
  /** The provider knows the customer no more. */
  loseCustomer(id: string): void
}

export async function startFakeMethodProviders(t: Test): Promise<readonly FakeMethodProvider[]> {
  return Promise.all([fakeStripe(t), fakePaypal(t), fakeAuthorizeNet(t)])
}

async function fakeStripe(t: Test): Promise<FakeMethodProvider> {
  const fake = await startFakeStripe(t)
  const told = (name: string) => fake.events.filter(({ type }) => type === name).length
  return {
    id: 'stripe',
    env: fake.env,
    faults: fake.faults,
    token: () => fake.addMethod({ brand: 'visa', last4: '4242', exp_month: 8, exp_year: 2034 }).id,
    tokenAgain: (token) => token,
    shown: { payment_type: 'card', card_brand: 'visa', last_four: '4242', expiry_month: '08', expiry_year: '2034' },
    attached: () => told('payment_method.attached'),
    customers: () => told('customer.created'),
    detached: () => told('payment_method.detached'),
    attachCalls: () => fake.calls.filter(({ path }) => path.endsWith('/attach')).length,
    loseCustomer: (id) => void fake.deleteCustomer(id),
  }
}

async function fakePaypal(t: Test): Promise<FakeMethodProvider> {
  const fake = await startFakePaypal(t)
  const told = (name: string) => fake.events.filter(({ event_type }) => event_type === name).length
  return {
    id: 'paypal',
    env: fake.env,
    faults: fake.faults,
    token: () => fake.vault.approveSetup({ card: { brand: 'VISA', last_digits: '1111', expiry: '2034-02' } }),
    tokenAgain: (token) => token,
    shown: { payment_type: 'card', card_brand: 'visa', last_four: '1111', expiry_month: '02', expiry_year: '2034' },
    attached: () => told('VAULT.PAYMENT-TOKEN.CREATED'),
    customers: () => null,
    detached: () => told('VAULT.PAYMENT-TOKEN.DELETED'),
    attachCalls: () => fake.callsTo(/^\/v3\/vault\/payment-tokens$/).length,
    loseCustomer: (id) => fake.vault.loseCustomer(id),
  }
}

async function fakeAuthorizeNet(t: Test): Promise<FakeMethodProvider> {
  const fake = await startFakeAuthorizeNet(t)
  const cards = new Map<string, string>()
  const tokenOf = (card: string) => {
    const token = fake.profiles.tokenise({ card, expirationDate: '2034-02', cardType: 'Visa' })
    cards.set(token, card)
    return token
  }
  const told = (name: string) => fake.events.filter(({ eventType }) => eventType === `net.authorize.${name}`).length
  return {
    id: 'authorize-net',
    env: fake.env,
    faults: fake.faults,
    token: () => tokenOf(`card ${cards.size} 1111`),
    tokenAgain: (token) => tokenOf(cards.get(token) ?? ''),
    shown: { payment_type: 'card', card_brand: 'Visa', last_four: '1111', expiry_month: '02', expiry_year: '2034' },
    attached: () => told('customer.paymentProfile.created'),
    customers: () => told('customer.created'),
    detached: () => told('customer.paymentProfile.deleted'),
    attachCalls: () => fake.calls.filter(({ method }) => method === 'createCustomerPaymentProfile').length,
    loseCustomer: (id) => void fake.profiles.deleteCustomer(id),
  }
}
