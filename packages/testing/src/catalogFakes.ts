// The catalogues of the fakes, seen as one kind of thing: for stories that are the same for each of them.
import type { Test } from 'tap'
import type { FaultPlan } from './fakeProvider.ts'
import { startFakePaypal } from './paypal/fakePaypal.ts'
import { startFakeStripe } from './stripe/fakeStripe.ts'

export type FakeCatalogProvider = {
  readonly id: string
  /** What makes the apps use it. */
  readonly env: Readonly<Record<string, string>>
  /** Of calls that change something. */
  readonly faults: FaultPlan
  /** How many calls that change something make a product with a price. */
  readonly writes: number
  /** How many calls there were, of whatever kind. */
  calls(): number
  /** The ids of all products. */
  products(): readonly string[]
  descriptionOf(productId: string): string | null | undefined
  /** The amounts of a product's prices, in minor units; of the active ones or of all. */
  prices(productId: string, which: 'active' | 'all'): readonly number[]
  /** From now on it turns calls away above so many a second. */
  limit(perSecond: number): void
  /** How many it has turned away. */
  rejected(): number
}

export async function startFakeStripeCatalog(t: Test): Promise<FakeCatalogProvider> {
  const fake = await startFakeStripe(t)
  return {
    id: 'stripe',
    env: fake.env,
    faults: fake.faults,
    writes: 3,
    calls: () => fake.calls.length,
    products: () => fake.products().map(({ id }) => id),
    descriptionOf: (productId) => fake.product(productId).description,
    prices: (productId, which) =>
      fake
        .pricesOf(productId)
        .filter(({ active }) => active || which === 'all')
        .map(({ unit_amount }) => unit_amount),
    limit: (perSecond) => fake.rateLimit.set({ perSecond }),
    turnedAway: () => fake.rateLimit.refused(),
  }
}

/** It keeps prices of recurring products only, and their plans are what counts as prices. */
export async function startFakePaypalCatalog(t: Test): Promise<FakeCatalogProvider> {
  const fake = await startFakePaypal(t)
  const { catalog } = fake
  return {
    id: 'paypal',
    env: fake.env,
    faults: fake.faults,
    writes: 2,
    calls: () => fake.calls.length,
    products: () => [...catalog.products.keys()],
    descriptionOf: (productId) => catalog.products.get(productId)?.description,
    prices: (productId, which) =>
      [...catalog.plans.values()]
        .filter(({ product_id, status }) => product_id === productId && (status === 'ACTIVE' || which === 'all'))
        .map(({ billing_cycles }) => centsOf(billing_cycles)),
    limit: (perSecond) => catalog.limit.set({ perSecond }),
    turnedAway: () => catalog.limit.refused(),
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
