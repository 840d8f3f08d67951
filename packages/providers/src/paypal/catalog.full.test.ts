import t from 'tap'
import type { CatalogPrice } from '../productCatalog.ts'
import { catalogHarness, membershipAt, productId, putTestProduct, ticket } from './testing/catalogHarness.ts'

const once = { provider_product_id: productId, provider_price_id: null, kept_fields: [] }

t.test('PayPal: a one-time product is created without a price', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  t.equal(catalog.keepsPrice(ticket), false)
  t.strictSame(await putTestProduct(catalog, ticket), once)
  t.strictSame(
    [...fake.catalog.products.values()],
    [{ id: productId, name: 'Ticket', description: 'For one evening', type: 'DIGITAL' }],
  )
  t.equal(fake.catalog.plans.size, 0)
  const [call] = fake.callsTo(/catalogs/)
  t.match(call, { method: 'POST', path: '/v1/catalogs/products', key: /^[0-9a-f]{64}$/ })
})

t.test(
  'PayPal: an existing product is not created again, with the same key or another; a deleted one is',
  async (t) => {
    const { fake, catalog } = await catalogHarness(t)
    const known = await putTestProduct(catalog, ticket, { known: once, price: 'keep' })
    const before = [...fake.catalog.products.values()]
    t.strictSame(await putTestProduct(catalog, ticket), once, 'the same key')
    t.strictSame(await putTestProduct(catalog, ticket, { key: 'k2' }), once, 'another key')
    t.strictSame(await putTestProduct(catalog, ticket, { key: 'k3', known }), once, 'known')
    fake.forgetRequestIds()
    t.strictSame(await putTestProduct(catalog, ticket), once, 'an expired key')
    t.strictSame([...fake.catalog.products.values()], before)
    t.equal(fake.callsTo(/catalogs/).filter(({ method }) => method === 'PATCH').length, 0)
  },
)

t.test('PayPal: a product’s description is updated, added and removed', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const described = () => fake.catalog.products.get(productId)?.description
  await putTestProduct(catalog, { ...ticket, description: null })
  t.equal(described(), undefined)
  for (const description of ['For one evening', 'For two', null, 'Again', '']) {
    t.strictSame(await putTestProduct(catalog, { ...ticket, description }), once)
    t.equal(described(), description === '' ? undefined : (description ?? undefined))
  }
})

t.test('PayPal: a changed name or type is kept at PayPal and listed in kept_fields', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const types = { physical: 'PHYSICAL', digital: 'DIGITAL', service: 'SERVICE', subscription: 'SERVICE' } as const
  for (const [product_type, type] of Object.entries(types) as [keyof typeof types, string][]) {
    const product = { ...ticket, product_id: `a-${product_type}`, product_type }
    await putTestProduct(catalog, product)
    for (const [more, kept_fields] of [
      [{ name: 'Seat', description: 'In the front' }, ['name']],
      [{ product_type: product_type === 'physical' ? 'digital' : 'physical' }, ['product_type']],
      [{ name: 'Seat', product_type: product_type === 'physical' ? 'service' : 'physical' }, ['name', 'product_type']],
      [{ product_type: product_type === 'service' ? 'subscription' : product_type }, []],
    ] as const)
      t.strictSame((await putTestProduct(catalog, { ...product, ...more })).kept_fields, kept_fields, product_type)
    t.match(fake.catalog.products.get(product.product_id), { name: 'Ticket', type })
  }
})

t.test('PayPal: checkProduct rejects a product beyond PayPal’s limits and names the field and its limit', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const at = (price: Partial<CatalogPrice>) => membershipAt(price)
  const trial = (trial_days: number) => at({ recurring: { interval: 'month', trial_days } })
  const accepted = [
    { ...ticket, name: 'x'.repeat(127), description: '🎟'.repeat(256) },
    { ...ticket, price: { amount_cents: 1000, currency: 'KWD', recurring: null } },
    { ...ticket, price: { amount_cents: 0, currency: 'EUR', recurring: null } },
    at({ amount_cents: 150_000, currency: 'HUF' }),
    at({ amount_cents: 1500, currency: 'JPY' }),
    trial(365),
  ]
  for (const product of accepted) t.doesNotThrow(() => catalog.checkProduct(product), JSON.stringify(product))
  const rejections = [
    [{ ...ticket, name: 'x'.repeat(128) }, 'rejected', 'name_too_long', /names of at most 127/],
    [{ ...ticket, description: 'x'.repeat(257) }, 'rejected', 'description_too_long', /descriptions of at most 256/],
    [trial(366), 'rejected', 'trial_too_long', /trial_days up to 365/],
    [at({ amount_cents: 0 }), 'rejected', 'free_plan', /total_cents of 0/],
    [at({ currency: 'KWD' }), 'currency', 'currency_not_supported', /currency/],
    [at({ currency: 'KRW' }), 'currency', 'currency_not_supported', /currency/],
    [at({ amount_cents: 1050, currency: 'HUF' }), 'currency', 'currency_not_supported', /amount/],
    [at({ amount_cents: 1050, currency: 'TWD' }), 'currency', 'currency_not_supported', /amount/],
  ] as const
  for (const [product, kind, code, message] of rejections)
    t.throws(() => catalog.checkProduct(product), { name: 'ProviderError', kind, code, message }, code)
  t.same(fake.calls, [])
})

t.test('PayPal: a name that PayPal itself finds too long is rejected', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const name = '🎟'.repeat(127)
  catalog.checkProduct({ ...ticket, name })
  await t.rejects(putTestProduct(catalog, { ...ticket, name }), { kind: 'rejected', code: 'invalid_string_max_length' })
  t.equal(fake.catalog.products.size, 0)
})
