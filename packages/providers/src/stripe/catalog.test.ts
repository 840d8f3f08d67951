// Syncing products and prices to Stripe: the calls, and the resulting state.
import t from 'tap'
import type { CatalogPrice, ProviderProductIds } from '../productCatalog.ts'
import {
  assertDefaultPrice,
  callsOf,
  catalogHarness,
  firstPut,
  monthly,
  price,
  product,
  product_id,
  withProduct,
} from './testing/catalogHarness.ts'

const at = `POST /v1/products/${product_id}`
const providerError = (kind: string, code?: string) => ({ name: 'ProviderError', kind, ...(code ? { code } : {}) })
const again = (known: ProviderProductIds, more: object = {}) => ({ ...firstPut, known, ...more })

t.test('Stripe: a new product gets our id and a default price', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const put = await catalog.putProduct(firstPut)
  t.equal(put.provider_product_id, product_id)
  t.same(put.kept_fields, [])
  assertDefaultPrice(t, fake, put)
  t.same(callsOf(fake), ['POST /v1/products', 'POST /v1/prices', at])
  t.match(fake.product(product_id), {
    name: 'Example course',
    description: 'Twelve lessons',
    active: true,
    metadata: { product_id, product_type: 'digital' },
  })
  t.match(fake.pricesOf(product_id), [
    { unit_amount: 2599, currency: 'eur', recurring: null, metadata: { product_id }, type: 'one_time' },
  ])
  t.equal(fake.calls[1]?.key, 'first')
})

t.test('Stripe: a recurring price has its interval and trial', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const put = await catalog.putProduct({ ...firstPut, product: { ...product, price: monthly } })
  assertDefaultPrice(t, fake, put)
  const trial = { interval: 'month', interval_count: 1, trial_period_days: 14 }
  t.match(fake.pricesOf(product_id), [{ recurring: trial, type: 'recurring' }])
  const other = { ...product, product_id: product_id.replace(/a$/, 'b'), description: null }
  const yearly: CatalogPrice = { ...price, recurring: { interval: 'year', trial_days: 0 } }
  await catalog.putProduct({ ...firstPut, idempotency_key: 'other', product: { ...other, price: yearly } })
  t.match(fake.pricesOf(other.product_id), [{ recurring: { interval: 'year', trial_period_days: null } }])
  t.equal(fake.product(other.product_id).description, null)
})

t.test('Stripe: an up-to-date product is not created again, with the same key or another', async (t) => {
  for (const terms of [price, monthly, { ...price, recurring: { interval: 'week', trial_days: 0 } } as const]) {
    const { fake, catalog } = await catalogHarness(t)
    const request = { ...firstPut, product: { ...product, price: terms } }
    const put = await catalog.putProduct(request)
    t.same(await catalog.putProduct(request), put, 'as after a lost response')
    t.same(await catalog.putProduct({ ...request, idempotency_key: 'second' }), put)
    const before = fake.calls.length
    t.same(await catalog.putProduct({ ...request, idempotency_key: 'third', known: put }), put)
    t.same(callsOf(fake).slice(before), [at, 'GET /v1/prices'])
    assertDefaultPrice(t, fake, put)
    t.equal(fake.pricesOf(product_id).length, 1)
  }
})

t.test('Stripe: updating a product without its price is one call', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  fake.changeProduct(product_id, { active: false, metadata: { shelf: '7' } })
  const changed = { ...product, name: 'Renamed', description: null, product_type: 'service', price: monthly } as const
  const before = fake.calls.length
  t.same(await catalog.putProduct(again(known, { product: changed, price: 'keep' })), known)
  t.same(callsOf(fake).slice(before), [at])
  const metadata = { product_id, product_type: 'service', shelf: '7' }
  const { name, description, active, metadata: actual } = fake.product(product_id)
  t.same(
    { name, description, active, metadata: actual },
    { name: 'Renamed', description: null, active: true, metadata },
  )
  assertDefaultPrice(t, fake, known)
})

t.test('Stripe: a new price becomes the default and the former one is archived', async (t) => {
  const { fake, catalog, ...first } = await withProduct(t)
  let { known } = first
  const changes: readonly CatalogPrice[] = [
    monthly,
    price,
    { ...price, amount_cents: 2600 },
    { ...price, currency: 'USD' },
    { ...price, recurring: { interval: 'month', trial_days: 14 } },
    { ...price, recurring: { interval: 'year', trial_days: 14 } },
    { ...price, recurring: { interval: 'year', trial_days: 7 } },
    { ...price, recurring: { interval: 'year', trial_days: 0 } },
    { ...price, amount_cents: 0 },
  ]
  for (const [index, changed] of changes.entries()) {
    const request = { idempotency_key: `change ${index}`, product: { ...product, price: changed } }
    const put = await catalog.putProduct(again(known, request))
    t.not(put.provider_price_id, known.provider_price_id, JSON.stringify(changed))
    assertDefaultPrice(t, fake, put, JSON.stringify(changed))
    known = put
  }
  t.equal(fake.pricesOf(product_id).length, 1 + changes.length)
  t.match(fake.pricesOf(product_id).at(-1), { unit_amount: 0, active: true })
})

t.test('Stripe: of several matching prices of ours the oldest stays, and the merchant’s prices stay too', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  const own = { product: product_id, currency: 'eur', unit_amount: 2599 }
  const theirs = [
    fake.addPrice(own),
    fake.addPrice({ ...own, metadata: { product_id: 'another' } }),
    fake.addPrice({ ...own, unit_amount: 5, recurring: { interval: 'month', interval_count: 3 } }),
  ]
  fake.addPrice({ ...own, metadata: { product_id } })
  fake.addPrice({ ...own, unit_amount: 5, metadata: { product_id } })
  fake.addPrice({ ...own, recurring: { interval: 'month', interval_count: 3 }, metadata: { product_id } })
  fake.changeProduct(product_id, { default_price: theirs[0]?.id ?? '' })
  t.same(await catalog.putProduct(again(known)), known)
  assertDefaultPrice(t, fake, known)
  for (const { id } of theirs)
    t.match(
      fake.pricesOf(product_id).find((found) => found.id === id),
      { active: true },
    )
})

t.test('Stripe: a three-monthly price does not match a monthly one', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await catalog.putProduct({ ...firstPut, price: 'keep' })
  const quarterly = { interval: 'month', interval_count: 3, trial_period_days: 14 }
  const terms = { product: product_id, currency: 'eur', unit_amount: 2599, metadata: { product_id } }
  const { id } = fake.addPrice({ ...terms, recurring: quarterly })
  const put = await catalog.putProduct(again(known, { product: { ...product, price: monthly } }))
  t.not(put.provider_price_id, id)
  assertDefaultPrice(t, fake, put)
})

t.test('Stripe: a matching price is found on any page of the list', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  const other = { product: product_id, currency: 'eur', metadata: { product_id } }
  for (let index = 0; index < 75; index++) {
    fake.addPrice({ product: product_id, currency: 'eur', unit_amount: 2599 })
    fake.addPrice({ ...other, unit_amount: 10_000 + index })
  }
  t.same(await catalog.putProduct(again(known)), known)
  t.equal(callsOf(fake).filter((call) => call === 'GET /v1/prices').length, 2)
  assertDefaultPrice(t, fake, known)
  t.equal(fake.pricesOf(product_id).filter(({ active }) => active).length, 76)
})

t.test('Stripe: an archived price is created again, even with a remembered key', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const prices = new Set<string | null>()
  for (let round = 0; round < 3; round++) {
    const put = await catalog.putProduct(firstPut)
    assertDefaultPrice(t, fake, put)
    prices.add(put.provider_price_id)
    fake.changeProduct(product_id, { default_price: '' })
    fake.archivePrice(put.provider_price_id ?? '')
  }
  t.equal(prices.size, 3)
})

t.test('Stripe: a deleted product is created again, even with a remembered key', async (t) => {
  const { fake, catalog, known } = await withProduct(t)
  fake.deleteProduct(product_id)
  const put = await catalog.putProduct(again(known))
  assertDefaultPrice(t, fake, put)
  t.not(put.provider_price_id, known.provider_price_id)
  fake.deleteProduct(product_id)
  const alone = await catalog.putProduct(again(known, { price: 'keep' }))
  t.same(alone, { provider_product_id: product_id, provider_price_id: null, kept_fields: [] })
  t.same(fake.pricesOf(product_id), [])
  const gone = { provider_product_id: 'prod_gone', provider_price_id: null }
  fake.deleteProduct(product_id)
  const renamed = await catalog.putProduct(again(gone))
  t.equal(renamed.provider_product_id, product_id, 'one with another id')
  t.same(await catalog.putProduct(again(gone)), renamed, 'our id exists already')
  assertDefaultPrice(t, fake, renamed)
})

t.test('Stripe: prices are written in Stripe’s units', async (t) => {
  const amounts = [
    ['JPY', 500, 500],
    ['ISK', 500, 50_000],
    ['UGX', 500, 50_000],
    ['KWD', 12_340, 12_340],
    ['MGA', 1200, 12],
    ['USD', 99_999_999, 99_999_999],
  ] as const
  const { fake, catalog } = await catalogHarness(t)
  let known = null
  for (const [currency, amount_cents, unit_amount] of amounts) {
    const request = { idempotency_key: currency, product: { ...product, price: { ...price, currency, amount_cents } } }
    catalog.checkProduct(request.product)
    known = await catalog.putProduct({ ...firstPut, ...request, known })
    t.match(fake.pricesOf(product_id).at(-1), { unit_amount, currency: currency.toLowerCase() })
    const written = fake.calls.length
    t.same(await catalog.putProduct({ ...firstPut, ...request, known }), known, `${currency} is found again`)
    t.equal(fake.calls.length, written + 2)
  }
})

t.test('Stripe: a price that cannot be expressed is rejected without a call', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const odd = { ...product, price: { ...price, currency: 'KWD', amount_cents: 12_341 } }
  t.throws(() => catalog.checkProduct(odd), providerError('currency', 'amount_not_writable'))
  await t.rejects(catalog.putProduct({ ...firstPut, product: odd }), providerError('currency', 'amount_not_writable'))
  t.same(fake.calls, [])
  t.ok(catalog.keepsPrice(product))
})

t.test('Stripe: a rejected price is not retried', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const priced = (terms: object, key: string) =>
    catalog.putProduct({ ...firstPut, idempotency_key: key, product: { ...product, price: { ...price, ...terms } } })
  await t.rejects(priced({ currency: 'CUP' }, 'cup'), providerError('currency'))
  await t.rejects(priced({ amount_cents: 100_000_000 }, 'much'), providerError('currency', 'amount_too_large'))
  const long = { recurring: { interval: 'month', trial_days: 731 } }
  await t.rejects(priced(long, 'long'), providerError('rejected', 'parameter_invalid_integer'))
  t.equal(callsOf(fake).filter((call) => call === 'POST /v1/prices').length, 3)
  await t.resolves(priced({}, 'fine'), 'a later valid price succeeds')
})
