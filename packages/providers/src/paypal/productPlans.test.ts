// A recurring product is sold by one billing plan of ours.
import type { BillingInterval } from '@paylog/domain/products/events'
import t from 'tap'
import {
  catalogAt,
  catalogHarness,
  membership,
  membershipAt,
  monthly,
  plansOf,
  productId,
  putTestProduct,
} from './testing/catalogHarness.ts'

t.test('a recurring product has a plan, which can be subscribed to at once', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  t.equal(catalog.keepsPrice(membership), true)
  const { provider_price_id, ...rest } = await putTestProduct(catalog, membership)
  t.strictSame(rest, { provider_product_id: productId, kept_fields: [] })
  const calls = fake.callsTo(/catalogs|billing/).map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)
  const [product, plans] = ['/v1/catalogs/products', '/v1/billing/plans']
  t.strictSame(calls, [`POST ${product}`, `GET ${plans}`, `POST ${plans}`, `GET ${plans}`], 'and no further call')
  t.match(provider_price_id, /^P-[A-Z0-9]{24}$/)
  t.strictSame([...fake.catalog.plans.keys()], [provider_price_id])
  t.match(
    [...fake.catalog.plans.values()],
    [
      {
        product_id: productId,
        name: 'Membership',
        status: 'ACTIVE',
        billing_cycles: [
          {
            tenure_type: 'REGULAR',
            sequence: 1,
            total_cycles: 0,
            frequency: { interval_unit: 'MONTH', interval_count: 1 },
            pricing_scheme: { fixed_price: { value: '9.00', currency_code: 'EUR' } },
          },
        ],
      },
    ],
  )
})

t.test('a trial comes first, and is free', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const product = membershipAt({ recurring: { interval: 'year', trial_days: 14 } })
  const { provider_price_id } = await putTestProduct(catalog, product)
  const plan = fake.catalog.plans.get(provider_price_id ?? '')
  t.strictSame(plan?.billing_cycles, [
    {
      tenure_type: 'TRIAL',
      sequence: 1,
      total_cycles: 1,
      frequency: { interval_unit: 'DAY', interval_count: 14 },
      pricing_scheme: { fixed_price: { currency_code: 'EUR', value: '0.00' } },
    },
    {
      tenure_type: 'REGULAR',
      sequence: 2,
      total_cycles: 0,
      frequency: { interval_unit: 'YEAR', interval_count: 1 },
      pricing_scheme: { fixed_price: { currency_code: 'EUR', value: '9.00' } },
    },
  ])
  t.equal((await putTestProduct(catalog, product, { key: 'k2' })).provider_price_id, provider_price_id)
  t.equal(fake.catalog.plans.size, 1)
})

t.test('intervals and currencies are PayPal’s, and are found again', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const units = { day: 'DAY', week: 'WEEK', month: 'MONTH', year: 'YEAR' } as const
  const intervals: readonly BillingInterval[] = ['day', 'week', 'month', 'year']
  const prices = [
    ...intervals.map((interval) => ({ ...monthly, recurring: { interval, trial_days: 0 } })),
    { ...monthly, amount_cents: 150_000, currency: 'HUF' },
    { ...monthly, amount_cents: 1500, currency: 'JPY' },
    { ...monthly, amount_cents: 1500, currency: 'USD', recurring: { interval: 'month', trial_days: 365 } },
  ] as const
  for (const [index, price] of prices.entries()) {
    const product = { ...membership, product_id: `product-${index}`, price }
    const { provider_price_id } = await putTestProduct(catalog, product)
    const cycle = fake.catalog.plans.get(provider_price_id ?? '')?.billing_cycles.at(-1)
    t.equal(cycle?.frequency.interval_unit, units[price.recurring?.interval ?? 'day'])
    t.equal(
      (await putTestProduct(catalog, product, { key: 'k2' })).provider_price_id,
      provider_price_id,
      price.currency,
    )
  }
  t.same(plansOf(fake).slice(-3), ['ACTIVE 1500', 'ACTIVE 1500', 'ACTIVE 15.00'])
  t.equal(fake.catalog.plans.size, prices.length)
})

t.test('the price that is there is made no second time', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  t.strictSame(await putTestProduct(catalog, membership), known, 'the same key')
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known, 'another key')
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k3', known }), known, 'known')
  fake.forgetRequestIds()
  t.strictSame(await putTestProduct(catalog, membership), known, 'a forgotten key')
  t.same(plansOf(fake), ['ACTIVE 9.00'])
  t.equal(fake.callsTo(/billing/).filter(({ method }) => method !== 'GET').length, 1)
})

t.test('another price is another plan, and the former one is sold no more', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const dearer = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'k2', known })
  t.not(dearer.provider_price_id, known.provider_price_id)
  t.same(plansOf(fake), ['INACTIVE 9.00', 'ACTIVE 12.00'])
  const others = [
    { currency: 'USD' },
    { recurring: { interval: 'year', trial_days: 0 } },
    { recurring: { interval: 'year', trial_days: 7 } },
    { recurring: { interval: 'year', trial_days: 8 } },
  ] as const
  for (const [index, price] of others.entries()) {
    const { provider_price_id } = await putTestProduct(catalog, membershipAt(price), { key: `o${index}` })
    const active = [...fake.catalog.plans.values()].filter(({ status }) => status === 'ACTIVE')
    t.strictSame(
      active.map(({ id }) => id),
      [provider_price_id],
      JSON.stringify(price),
    )
  }
  t.equal(fake.catalog.plans.size, 6)
})

t.test('a price that comes back finds its plan again', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const first = await putTestProduct(catalog, membership, { key: 'a1' })
  const second = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'b', known: first })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'a2', known: second }), first)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'INACTIVE 12.00'])
  const turns = fake.callsTo(/activate$/).length
  t.strictSame(await putTestProduct(catalog, membership, { key: 'a1', known: first }), first)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'INACTIVE 12.00'])
  t.equal(fake.callsTo(/activate$/).length, turns, 'what is off is not switched off again')
})

t.test('a price that is to be kept is kept, whatever the product says', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const changed = { ...membershipAt({ amount_cents: 1200 }), description: 'For all' }
  t.strictSame(await putTestProduct(catalog, changed, { price: 'keep', known }), known)
  const once = { ...membership, price: { ...monthly, recurring: null } }
  t.strictSame(await putTestProduct(catalog, once, { price: 'keep', known }), known)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
  const gone = { ...known, provider_price_id: 'P-GONE' }
  t.strictSame(await putTestProduct(catalog, membership, { price: 'keep', known: gone }), {
    ...known,
    provider_price_id: null,
  })
})

t.test('what is recurring no more is subscribed to no more', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const once = { ...membership, price: { ...monthly, recurring: null } }
  t.strictSame(await putTestProduct(catalog, once, { key: 'k2', known }), { ...known, provider_price_id: null })
  t.same(plansOf(fake), ['INACTIVE 9.00'])
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k3' }), known)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
  await putTestProduct(catalog, once, { key: 'k4', known: null })
  t.same(plansOf(fake), ['INACTIVE 9.00'], 'also when nobody knows the plan')
})

t.test('a renamed product renames its plan, which PayPal allows', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const nameOf = () => fake.catalog.plans.get(known.provider_price_id ?? '')?.name
  const renamed = { ...known, kept_fields: ['name'] }
  t.strictSame(await putTestProduct(catalog, { ...membership, name: 'Friends' }, { known }), renamed)
  t.equal(nameOf(), 'Friends')
  t.strictSame(await putTestProduct(catalog, { ...membership, name: 'Circle' }, { known, price: 'keep' }), renamed)
  t.equal(nameOf(), 'Circle')
})

t.test('plans that the merchant made by hand are left alone', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const ours = fake.catalog.plans.get(known.provider_price_id ?? '')
  const byHand = [
    { ...ours, payment_preferences: {}, description: 'By hand, at our price' },
    { ...ours, payment_preferences: {}, description: undefined, status: 'CREATED' },
  ].map((plan) => fake.catalog.addPlan(plan))
  const before = byHand.map(({ id }) => fake.catalog.plans.get(id))
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known)
  const dearer = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'k3' })
  await putTestProduct(catalog, { ...membership, price: { ...monthly, recurring: null } }, { key: 'k4', known: dearer })
  t.strictSame(
    byHand.map(({ id }) => fake.catalog.plans.get(id)),
    before,
  )
  await putTestProduct(catalog, membership, { key: 'k5' })
  t.same(
    plansOf(fake),
    ['ACTIVE 9.00', 'ACTIVE 9.00', 'CREATED 9.00', 'INACTIVE 12.00'],
    'and is no substitute for ours',
  )
})

t.test('a plan of another product is no plan of ours, whoever says so', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const other = await putTestProduct(catalog, { ...membership, product_id: 'another-one' })
  const known = { ...other, provider_product_id: productId }
  const ours = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { known })
  t.not(ours.provider_price_id, other.provider_price_id)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'ACTIVE 12.00'])
  t.equal((await putTestProduct(catalog, membership, { price: 'keep', known })).provider_price_id, null)
})

t.test('of several plans of ours at the price the oldest one stays', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const first = await putTestProduct(catalog, membership)
  const ours = fake.catalog.plans.get(first.provider_price_id ?? '')
  const older = fake.catalog.addPlan({ ...ours, payment_preferences: {} })
  fake.catalog.changePlan(older.id, { create_time: '2026-01-01T00:00:00Z' })
  const again = await putTestProduct(catalog, membership, { key: 'k2', known: first })
  t.equal(again.provider_price_id, older.id)
  t.same(plansOf(fake), ['INACTIVE 9.00', 'ACTIVE 9.00'])
})

t.test('our plan stays ours when the merchant describes it', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  fake.catalog.changePlan(known.provider_price_id ?? '', { description: 'For friends of the house' })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2', known }), known)
  await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'k3', known })
  t.same(plansOf(fake), ['INACTIVE 9.00', 'ACTIVE 12.00'])
})

t.test('a plan that the merchant has switched off is switched on again', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  fake.catalog.changePlan(known.provider_price_id ?? '', { status: 'INACTIVE' })
  t.strictSame(await putTestProduct(catalog, membership, { known }), known)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
})

t.test('all pages of the list are looked through', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const ours = fake.catalog.plans.get(known.provider_price_id ?? '')
  for (let made = 1; made <= 44; made++)
    fake.catalog.addPlan({ ...ours, payment_preferences: {}, description: `By hand, number ${made}` })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known)
  t.equal(fake.catalog.plans.size, 45)
  const [last, ...others] = fake.callsTo(/billing\/plans\?/).toReversed()
  t.match(last?.path, `product_id=${productId}&page_size=20&page=3`)
  t.match(others[1]?.path, 'page=1')
})

t.test('pages that are not full are not the last ones, and plans that are not whole are asked for', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const ours = fake.catalog.plans.get(known.provider_price_id ?? '')
  for (let made = 1; made <= 10; made++)
    fake.catalog.addPlan({ ...ours, payment_preferences: {}, description: `By hand, number ${made}` })
  fake.catalog.distortList({ pageSize: 3, isMinimal: true })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known)
  t.equal(fake.catalog.plans.size, 11)
})

t.test('full pages end with an empty one', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  const ours = fake.catalog.plans.get(known.provider_price_id ?? '')
  for (let made = 1; made <= 19; made++)
    fake.catalog.addPlan({ ...ours, payment_preferences: {}, description: `By hand, number ${made}` })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known)
})

t.test('sixteen at once leave one plan that can be subscribed to', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const other = catalogAt(t, fake)
  const all = Array.from({ length: 16 }, (_, index) => putTestProduct(index % 2 ? catalog : other, membership))
  const [first, ...rest] = await Promise.all(all)
  for (const one of rest) t.strictSame(one, first)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
})

t.test('sixteen at once with different keys leave one as well', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const other = catalogAt(t, fake)
  await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      putTestProduct(index % 2 ? catalog : other, membership, { key: `k${index}` }),
    ),
  )
  t.equal(fake.catalog.products.size, 1)
  t.equal(plansOf(fake).filter((plan) => plan === 'ACTIVE 9.00').length, 1)
  const settled = await putTestProduct(catalog, membership)
  t.equal(fake.catalog.plans.get(settled.provider_price_id ?? '')?.status, 'ACTIVE')
})

t.test('a list that is behind makes no second plan', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  fake.catalog.distortList({ isBehind: true })
  const known = await putTestProduct(catalog, membership)
  t.strictSame(await putTestProduct(catalog, membership), known, 'for the key')
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2', known }), known, 'for the id')
  t.same(plansOf(fake), ['ACTIVE 9.00'])
})
