// Test support: PayPal's catalogue on a fake PayPal, without a rate limit.
import { type FakePaypal, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { Plan } from '@paylog/testing/paypal/plans'
import type { Test } from 'tap'
import { createPace } from '../../pacing.ts'
import type { CatalogPrice, CatalogProduct, ProductCatalog, ProviderProductIds } from '../../productCatalog.ts'
import { createCatalog } from '../catalog.ts'
import { createPaypalApi } from '../client.ts'

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

/** @param options `patienceMs`: how long throttled calls are retried */
export async function catalogHarness(
  t: Test,
  { timeoutMs = 5000, patienceMs = 0 }: { readonly timeoutMs?: number; readonly patienceMs?: number } = {},
) {
  const fake = await startFakePaypal(t)
  return { fake, catalog: catalogAt(t, fake, { timeoutMs, patienceMs }) }
}

/** A harness with the membership and its plan. */
export async function withMembership(t: Test) {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  return { fake, catalog, known, ours: fake.catalog.plans.get(known.provider_price_id ?? '') }
}

/** Another catalogue on the same fake, like that of a second process. @param options `retries` of lost responses */
export function catalogAt(
  t: Test,
  fake: FakePaypal,
  {
    timeoutMs = 5000,
    patienceMs = 0,
    retries = true,
  }: { readonly timeoutMs?: number; readonly patienceMs?: number; readonly retries?: boolean } = {},
): ProductCatalog {
  const { clientId, clientSecret, apiBase } = fake
  const pace = createPace({ perSecond: 0, patienceMs })
  const api = createPaypalApi({ clientId, clientSecret, apiBase, timeoutMs, retries, pace })
  t.teardown(() => api.close())
  return createCatalog(api)
}

export type PutOptions = {
  readonly key?: string
  readonly price?: 'put' | 'keep'
  readonly known?: ProviderProductIds | null
}

/** Puts a product; by default with its price, as if for the first time. */
export function putTestProduct(
  catalog: ProductCatalog,
  product: CatalogProduct,
  { key = 'k1', price = 'put', known = null }: PutOptions = {},
) {
  return catalog.putProduct({ idempotency_key: key, product, price, known })
}

/** The fake's plans, oldest first, each as `ACTIVE 9.00`. */
export function plansOf({ catalog }: FakePaypal): readonly string[] {
  return [...catalog.plans.values()].map(({ status, billing_cycles }) => `${status} ${regularValue(billing_cycles)}`)
}

function regularValue(cycles: Plan['billing_cycles']): string | undefined {
  return cycles.find(({ tenure_type }) => tenure_type === 'REGULAR')?.pricing_scheme?.fixed_price.value
}
