// Real provider adapters connected to fake provider servers.

import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import type { Provider } from '@paylog/providers/provider'
import { loadConfig } from '@paylog/runtime/config/environment'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FaultPlan } from '@paylog/testing/fakeServer'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import { Type } from 'typebox'
import { enabledProviders, providerVariables } from '../provider-calls/enabledProviders.ts'
import type { SignedNotification } from './receiverHarness.ts'

/** Long enough for a call with two retries, and short enough for a test. */
const providerTimeoutMs = 1_600

/** The provider that these variables enable. It is closed after the test. */
export async function providerFromEnv(t: Test, env: Readonly<Record<string, string>>): Promise<Provider> {
  const config = loadConfig(Type.Object(providerVariables), { PROVIDER_TIMEOUT_MS: String(providerTimeoutMs), ...env })
  const [provider, ...others] = (await enabledProviders(config)).values()
  if (!provider || others.length > 0) throw new Error('expected exactly one enabled provider')
  t.teardown(() => provider.close())
  return provider
}

export type SentNotification = SignedNotification & { readonly id: string; readonly type: string }
type MethodRef = Pick<PaymentMethod, 'provider_method_id' | 'provider_customer_id'>

/** One interface to the fakes of all providers, for tests of saved methods. */
export type FakeMethodProvider = {
  readonly id: string
  readonly env: Readonly<Record<string, string>>
  /** Faults of the next calls that change something. */
  readonly faults: FaultPlan
  /** A form token for a new card. */
  token(): string
  /** A second form token for the card of an earlier one. */
  tokenAgain(token: string): string
  /** The resource fields of such a card. */
  readonly shown: object
  /** How many methods were attached, customers created (`null` if created with their methods), and methods detached. */
  attached(): number
  customers(): number | null
  detached(): number
  /** Makes the provider forget a customer. */
  loseCustomer(id: string): void
  /** The latest notification. */
  latest(): SentNotification
  /** Changes the card to one that ends in 0005. Not every provider notifies it. */
  readonly renew: ((method: MethodRef) => void) | null
  /** Detaches the method at the provider. */
  detach(method: MethodRef): void
}

function lastOf<Event>(events: readonly Event[]): Event {
  const event = events.at(-1)
  if (event === undefined) throw new Error('The provider sent no notification')
  return event
}

export async function startFakeMethodProviders(t: Test): Promise<readonly FakeMethodProvider[]> {
  return Promise.all([fakeStripe(t), fakePaypal(t), fakeAuthorizeNet(t)])
}

async function fakeStripe(t: Test): Promise<FakeMethodProvider> {
  const fake = await startFakeStripe(t)
  const countOf = (name: string) => fake.events.filter(({ type }) => type === name).length
  return {
    id: 'stripe',
    env: fake.env,
    faults: fake.faults,
    token: () => fake.addMethod({ brand: 'visa', last4: '4242', exp_month: 8, exp_year: 2034 }).id,
    tokenAgain: (token) => token,
    shown: { payment_type: 'card', card_brand: 'visa', last_four: '4242', expiry_month: '08', expiry_year: '2034' },
    attached: () => countOf('payment_method.attached'),
    customers: () => countOf('customer.created'),
    detached: () => countOf('payment_method.detached'),
    loseCustomer: (id) => void fake.deleteCustomer(id),
    latest(event = lastOf(fake.events)) {
      return { ...fake.signed(event), id: event.id, type: event.type }
    },
    renew: ({ provider_method_id: id }) => void fake.changeCard(id, { last4: '0005', exp_year: 2034 }),
    detach: ({ provider_method_id: id }) => void fake.detachMethod(id),
  }
}

async function fakePaypal(t: Test): Promise<FakeMethodProvider> {
  const fake = await startFakePaypal(t)
  const countOf = (name: string) => fake.events.filter(({ event_type }) => event_type === name).length
  return {
    id: 'paypal',
    env: fake.env,
    faults: fake.faults,
    token: () => fake.vault.approveSetup({ card: { brand: 'VISA', last_digits: '1111', expiry: '2034-02' } }),
    tokenAgain: (token) => token,
    shown: { payment_type: 'card', card_brand: 'visa', last_four: '1111', expiry_month: '02', expiry_year: '2034' },
    attached: () => countOf('VAULT.PAYMENT-TOKEN.CREATED'),
    customers: () => null,
    detached: () => countOf('VAULT.PAYMENT-TOKEN.DELETED'),
    loseCustomer: (id) => fake.vault.loseCustomer(id),
    latest(event = lastOf(fake.events)) {
      return { ...fake.signed(event), id: event.id, type: event.event_type }
    },
    renew: null,
    detach: ({ provider_method_id: id }) => void fake.vault.remove(id),
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
  const countOf = (name: string) => fake.events.filter(({ eventType }) => eventType === `net.authorize.${name}`).length
  return {
    id: 'authorize-net',
    env: fake.env,
    faults: fake.faults,
    token: () => tokenOf(`card ${cards.size} 1111`),
    tokenAgain: (token) => tokenOf(cards.get(token) ?? ''),
    shown: { payment_type: 'card', card_brand: 'Visa', last_four: '1111', expiry_month: '02', expiry_year: '2034' },
    attached: () => countOf('customer.paymentProfile.created'),
    customers: () => countOf('customer.created'),
    detached: () => countOf('customer.paymentProfile.deleted'),
    loseCustomer: (id) => void fake.profiles.deleteCustomer(id),
    latest(event = lastOf(fake.events)) {
      return { ...fake.signed(event), id: event.notificationId, type: event.eventType }
    },
    renew: ({ provider_customer_id, provider_method_id: id }) =>
      void fake.profiles.changeMethod(provider_customer_id ?? '', id, { card: 'card 0005' }),
    detach: ({ provider_customer_id, provider_method_id: id }) =>
      void fake.profiles.deleteMethod(provider_customer_id ?? '', id),
  }
}
