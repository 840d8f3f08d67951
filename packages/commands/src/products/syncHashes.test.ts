import type { CatalogProduct } from '@paylog/providers/productCatalog'
import t from 'tap'
import { createCatalogState, fakeCatalog } from '../testing/fakeCatalog.ts'
import { createSteps } from '../testing/fakeSteps.ts'
import { catalogProduct, hashesAt } from './syncAssessment.ts'

const catalog = fakeCatalog(createSteps(), createCatalogState())
const price = { amount_cents: 900, currency: 'EUR', recurring: { interval: 'month', trial_days: 0 } } as const
const product: CatalogProduct = {
  product_id: '018f0000-0000-7000-8000-000000000001',
  name: 'Membership',
  description: 'Everything',
  product_type: 'subscription',
  price,
}
const hashes = (more: Partial<CatalogProduct>) => hashesAt(catalog, { ...product, ...more })
const plain = hashes({})

t.test('different content changes the content hash and keeps the price hash', async (t) => {
  const contents: readonly Partial<CatalogProduct>[] = [
    { name: 'Other' },
    { description: 'Other' },
    { description: null },
    { description: '' },
    { description: 'null' },
    { product_type: 'service' },
    { name: 'MembershipEverything', description: '' },
    { name: 'Membership,Everything', description: null },
  ]
  const found = contents.map(hashes)
  t.equal(new Set([plain, ...found].map(({ content_hash }) => content_hash)).size, contents.length + 1)
  t.same(new Set(found.map(({ price_hash }) => price_hash)), new Set([plain.price_hash]))
})

t.test('a different price changes the price hash and keeps the content hash', async (t) => {
  const prices: readonly CatalogProduct['price'][] = [
    { ...price, amount_cents: 90 },
    { ...price, currency: 'USD' },
    { ...price, recurring: null },
    { ...price, recurring: { interval: 'year', trial_days: 0 } },
    { ...price, recurring: { interval: 'month', trial_days: 7 } },
  ]
  const found = prices.map((each) => hashes({ price: each }))
  t.equal(new Set([plain, ...found].map(({ price_hash }) => price_hash)).size, prices.length + 1)
  t.same(new Set(found.map(({ content_hash }) => content_hash)), new Set([plain.content_hash]))
})

t.test('the price hash is null when the catalogue keeps no price', async (t) => {
  for (const keepingNone of [null, { ...catalog, keepsPrice: () => false }])
    t.same(hashesAt(keepingNone, product), { ...plain, price_hash: null })
})

t.test('the hashes of a product are stable, so that it is not synced again', async (t) => {
  t.match(plain, {
    content_hash: 'dfdd8673c90b53d34430b9c71673d94d1877da5b80efd64022c51e3e0a3faa77',
    price_hash: '642a341d5fdd17d948cf03f825ab449f8dc86d372543b1527dbb83d49a979591',
  })
})

t.test('a catalogue product has the total price, and an interval only when it recurs', async (t) => {
  const content = {
    product_id: product.product_id,
    name: 'Membership',
    description: null,
    product_type: 'subscription',
    is_recurring: true,
    subtotal_cents: 800,
    tax_cents: 150,
    discount_cents: 50,
    total_cents: 900,
    currency: 'EUR',
    billing_interval: 'month',
    trial_days: null,
    category_id: 'clubs',
  } as const
  t.same(catalogProduct(content), { ...product, description: null, price })
  t.same(catalogProduct({ ...content, trial_days: 7 }).price.recurring, { interval: 'month', trial_days: 7 })
  t.equal(catalogProduct({ ...content, is_recurring: false, billing_interval: null }).price.recurring, null)
})
