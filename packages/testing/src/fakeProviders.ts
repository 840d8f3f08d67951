// One interface for the fakes of all real providers, so that a test can run the same scenario on each of them.
import type { Test } from 'tap'
import { startFakeAuthorizeNet } from './authorize-net/fakeAuthorizeNet.ts'
import type { FaultPlan } from './fakeServer.ts'
import { startFakePaypal } from './paypal/fakePaypal.ts'
import { startFakeStripe } from './stripe/fakeStripe.ts'

type Fake = {
  readonly id: string
  /** The environment that makes the apps use this fake. */
  readonly env: Readonly<Record<string, string>>
  /** For calls that change something. */
  readonly faults: FaultPlan
}

export type FakeCatalogProvider = Fake & {
  /** The number of all calls. */
  calls(): number
  /** The ids of all products. */
  products(): readonly string[]
  descriptionOf(productId: string): string | null | undefined
  /** The amounts of a product's prices, in minor units. */
  prices(productId: string, which: 'active' | 'all'): readonly number[]
}

export async function startFakeStripeCatalog(t: Test): Promise<FakeCatalogProvider> {
  const fake = await startFakeStripe(t)
  return {
    id: 'stripe',
    env: fake.env,
    faults: fake.faults,
    calls: () => fake.calls.length,
    products: () => fake.products().map(({ id }) => id),
    descriptionOf: (productId) => fake.product(productId).description,
    prices: (productId, which) =>
      fake
        .pricesOf(productId)
        .filter(({ active }) => active || which === 'all')
        .map(({ unit_amount }) => unit_amount),
  }
}

/** PayPal stores prices of recurring products only; their plans count as prices. */
export async function startFakePaypalCatalog(t: Test): Promise<FakeCatalogProvider> {
  const fake = await startFakePaypal(t)
  const { catalog } = fake
  return {
    id: 'paypal',
    env: fake.env,
    faults: fake.faults,
    calls: () => fake.calls.length,
    products: () => [...catalog.products.keys()],
    descriptionOf: (productId) => catalog.products.get(productId)?.description,
    prices: (productId, which) =>
      [...catalog.plans.values()]
        .filter(({ product_id, status }) => product_id === productId && (status === 'ACTIVE' || which === 'all'))
        .map(({ billing_cycles }) => centsOf(billing_cycles)),
  }
}

type Cycles = readonly {
  readonly tenure_type: string
  readonly pricing_scheme?: { readonly fixed_price: { readonly value: string } }
}[]

function centsOf(cycles: Cycles): number {
  const regular = cycles.find(({ tenure_type }) => tenure_type === 'REGULAR')
  return Math.round(Number(regular?.pricing_scheme?.fixed_price.value) * 100)
}

export type FakeProvider = Fake & {
  /** The number of calls that create an intent. */
  creations(): number
  /** The number of different intents of a payment. */
  intentsOf(paymentId: string): number
  /** Pays or approves an intent as the payer. */
  pay(intent: { readonly provider_intent_id: string; readonly client_secret: string }): void
  /** Posts all notifications to a receiver, oldest first. @returns the response statuses */
  deliver(url: string): Promise<readonly number[]>
  /** The charged amounts of a payment, one per charge. */
  chargesOf(paymentId: string): readonly number[]
}

/** Each fake fails its test if a payment was charged twice. */
export async function startFakeProviders(t: Test): Promise<readonly FakeProvider[]> {
  const [stripe, paypal, authorizeNet] = await Promise.all([startStripe(t), startPaypal(t), startAuthorizeNet(t)])
  return [stripe, paypal, authorizeNet]
}

async function startStripe(t: Test): Promise<FakeProvider> {
  const fake = await startFakeStripe(t)
  return {
    id: 'stripe',
    env: fake.env,
    faults: fake.faults,
    creations: () =>
      fake.calls.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_intents').length,
    intentsOf: (paymentId) => fake.intents().filter(({ metadata }) => metadata.payment_id === paymentId).length,
    pay: ({ provider_intent_id }) => void fake.pay(provider_intent_id, 'succeeded'),
    deliver: fake.deliver,
    chargesOf: (paymentId) => amounts(fake.ledger.charges, paymentId),
  }
}

async function startPaypal(t: Test): Promise<FakeProvider> {
  const fake = await startFakePaypal(t)
  return {
    id: 'paypal',
    env: fake.env,
    faults: fake.faults,
    creations: () => fake.callsTo(/^\/v2\/checkout\/orders$/).length,
    intentsOf: (paymentId) => [...fake.orders.values()].filter(({ unit }) => unit.custom_id === paymentId).length,
    pay: ({ provider_intent_id }) => void fake.approve(provider_intent_id),
    deliver: fake.deliver,
    chargesOf: (paymentId) => amounts(fake.charges, paymentId),
  }
}

async function startAuthorizeNet(t: Test): Promise<FakeProvider> {
  const fake = await startFakeAuthorizeNet(t)
  const invoiceOf = (paymentId: string) => paymentId.replaceAll('-', '').slice(-20)
  return {
    id: 'authorize-net',
    env: fake.env,
    faults: fake.faults,
    creations: () => fake.calls.filter(({ method }) => method === 'getHostedPaymentPage').length,
    // Tokens charge nothing. A payment has one intent if all its tokens have the same invoice number.
    intentsOf: (paymentId) =>
      new Set(
        fake.calls
          .map(({ request }) => JSON.stringify(request).match(/"invoiceNumber":"(\w+)"/)?.[1])
          .filter((invoice) => invoice === invoiceOf(paymentId)),
      ).size,
    pay: ({ client_secret }) => void fake.pay({ token: client_secret }),
    deliver: fake.deliver,
    chargesOf: (paymentId) => amounts(fake.ledger.charges, invoiceOf(paymentId)),
  }
}

function amounts(charges: FakeCharges, paymentId: string): number[] {
  return charges.filter(({ payment_id }) => payment_id === paymentId).map(({ amount_cents }) => amount_cents)
}

type FakeCharges = readonly { readonly payment_id: string | null; readonly amount_cents: number }[]
