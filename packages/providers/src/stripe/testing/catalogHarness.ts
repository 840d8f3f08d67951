// Test support: Stripe's catalogue on a fake Stripe.
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import { createPace, type Pace } from '../../pacing.ts'
import type { CatalogPrice, CatalogProduct, ProductCatalog, ProviderProduct, PutProduct } from '../../productCatalog.ts'
import { createStripeApi } from '../api.ts'
import { createCatalog } from '../catalog.ts'

export const product_id = '018f0000-0000-7000-8000-00000000000a'

export const price: CatalogPrice = { amount_cents: 2599, currency: 'EUR', recurring: null }

export const product: CatalogProduct = {
  product_id,
  name: 'Example course',
  description: 'Twelve lessons',
  product_type: 'digital',
  price,
}

export const monthly: CatalogPrice = { ...price, recurring: { interval: 'month', trial_days: 14 } }

export const firstPut: PutProduct = { idempotency_key: 'first', product, price: 'put', known: null }

type Options = { readonly timeoutMs?: number; readonly now?: () => Date; readonly pace?: Pace }

/** Without a rate limit by default. */
const unlimitedPace = () => createPace({ perSecond: 0 })

export async function catalogHarness(
  t: Test,
  { timeoutMs = 5000, now = () => new Date(), pace = unlimitedPace() }: Options = {},
): Promise<{ readonly fake: FakeStripe; readonly catalog: ProductCatalog }> {
  const fake = await startFakeStripe(t, { now })
  return { fake, catalog: catalogAt(t, fake.origin, { timeoutMs, pace }) }
}

export function catalogAt(
  t: Test,
  apiBase: string,
  { timeoutMs = 5000, pace = unlimitedPace() }: Omit<Options, 'now'> = {},
): ProductCatalog {
  const api = createStripeApi({ secretKey: 'sk_test_example', apiBase, timeoutMs, pace })
  t.teardown(() => api.close())
  return createCatalog(api)
}

/** Asserts that there is one product with one active price of ours, and that this is the default. */
export function assertDefaultPrice(
  t: Test,
  fake: FakeStripe,
  { provider_product_id, provider_price_id }: ProviderProduct,
  message = 'the catalogue',
): void {
  const found = fake.products().map(({ id, default_price, active }) => ({ id, default_price, active }))
  t.same(found, [{ id: provider_product_id, default_price: provider_price_id, active: true }], message)
  const ours = fake.pricesOf(product_id).filter(({ active, metadata }) => active && metadata.product_id === product_id)
  t.same(
    ours.map(({ id }) => id),
    [provider_price_id],
    message,
  )
}

/** The fake's calls in short form, such as `POST /v1/prices`. */
export function callsOf(fake: FakeStripe): string[] {
  return fake.calls.map(({ method, path }) => `${method} ${path.replace(/price_\w+/, ':price')}`)
}
