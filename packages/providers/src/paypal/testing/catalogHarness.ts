// For tests: the catalogue of a PayPal of its own, faster than PayPal is called otherwise.
import { type FakePaypal, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { Plan } from '@paylog/testing/paypal/plans'
import type { Test } from 'tap'
import { createPace } from '../../pacing.ts'
import type { CatalogPrice, CatalogProduct, ProductCatalog, ProviderProductIds } from '../../productCatalog.ts'
import { createCatalog } from '../catalog.ts'
import { createPaypalClient } from '../client.ts'

export const productId = '0198f3a0-0000-7000-8000-0000000000b1'

export const ticket: CatalogProduct = {
  product_id: productId,
  name: 'Ticket',
  description: 'For one evening',
  product_type: 'digital',
  price: { amount_cents: 1999, currency: 'EUR', recurring: null },
}

export const monthly: CatalogPrice = {
  amount_cents: 900,
  currency: 'EUR',
  recurring: { interval: 'month', trial_days: 0 },
}
export const membership: CatalogProduct = {
  ...ticket,
  name: 'Membership',
  product_type: 'subscription',
  price: monthly,
}

/** A membership at another price. */
export function membershipAt(price: Partial<CatalogPrice>): CatalogProduct {
  return { ...membership, price: { ...monthly, ...price } }
}

/** @param options `patienceMs` while PayPal is called too often */
export async function catalogHarness(
  t: Test,
  { timeoutMs = 5000, patienceMs = 0 }: { readonly timeoutMs?: number; readonly patienceMs?: number } = {},
) {
  const fake = await startFakePaypal(t)
  return { fake, catalog: catalogAt(t, fake, { timeoutMs, patienceMs }) }
}

/** A further one, as another process would have it. @param options `repeats`: calls whose answer was lost */
export function catalogAt(
  t: Test,
  fake: FakePaypal,
  {
    timeoutMs = 5000,
    patienceMs = 0,
    repeats = true,
  }: { readonly timeoutMs?: number; readonly patienceMs?: number; readonly repeats?: boolean } = {},
): ProductCatalog {
  const { clientId, clientSecret, apiBase } = fake
  const pace = createPace({ perSecond: 0, patienceMs })
  const client = createPaypalClient({ clientId, clientSecret, apiBase, timeoutMs, retries: repeats, pace })
  t.teardown(() => client.close())
  return createCatalog(client)
}

export type PutOptions = {
  readonly key?: string
  readonly price?: 'put' | 'keep'
  readonly known?: ProviderProductIds | null
}

/** Puts a product, with its price and as if for the first time unless said otherwise. */
export function putTestProduct(
  catalog: ProductCatalog,
  product: CatalogProduct,
  { key = 'k1', price = 'put', known = null }: PutOptions = {},
) {
  return catalog.putProduct({ idempotency_key: key, product, price, known })
}

/** The plans of the fake, the oldest one first: `ACTIVE 9.00` for each. */
export function plansOf({ catalog }: FakePaypal): readonly string[] {
  return [...catalog.plans.values()].map(({ status, billing_cycles }) => `${status} ${regularValue(billing_cycles)}`)
}

function regularValue(cycles: Plan['billing_cycles']): string | undefined {
  return cycles.find(({ tenure_type }) => tenure_type === 'REGULAR')?.pricing_scheme?.fixed_price.value
}
