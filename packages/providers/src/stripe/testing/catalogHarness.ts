// Test support: Stripe's catalogue on a fake Stripe.
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import type { CatalogPrice, CatalogProduct, ProviderProduct, PutProduct } from '../../productCatalog.ts'
import { connect } from '../../testing/providerHarness.ts'

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

export async function catalogHarness(
  t: Test,
  { perSecond = 0, timeoutMs }: { readonly perSecond?: number; readonly timeoutMs?: number | undefined } = {},
) {
  const fake = await startFakeStripe(t)
  const { catalog } = await connect(t, { ...fake.env, STRIPE_MAX_PER_SECOND: `${perSecond}` }, { timeoutMs })
  return { fake, catalog }
}

/** A harness with the product and its price. */
export async function withProduct(t: Test) {
  const { fake, catalog } = await catalogHarness(t)
  return { fake, catalog, known: await catalog.putProduct(firstPut) }
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
