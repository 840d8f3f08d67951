// Syncing the billing plan of a recurring product.
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
  withMembership,
} from './testing/catalogHarness.ts'

t.test('PayPal: a recurring product gets an active plan', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  t.equal(catalog.keepsPrice(membership), true)
  const { provider_price_id, ...rest } = await putTestProduct(catalog, membership)
  t.strictSame(rest, { provider_product_id: productId, kept_fields: [] })
  const calls = fake.callsTo(/catalogs|billing/).map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)
  const [product, plans] = ['/v1/catalogs/products', '/v1/billing/plans']
  t.strictSame(calls, [`POST ${product}`, `GET ${plans}`, `POST ${plans}`, `GET ${plans}`], 'no further calls')
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

t.test('PayPal: plans of all intervals, currencies and trials are found again', async (t) => {
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
    const again = await putTestProduct(catalog, product, { key: 'k2' })
    t.equal(again.provider_price_id, provider_price_id, price.currency)
  }
  t.same(plansOf(fake).slice(-3), ['ACTIVE 1500', 'ACTIVE 1500', 'ACTIVE 15.00'])
  t.equal(fake.catalog.plans.size, prices.length)
  const [trial, regular] = [...fake.catalog.plans.values()].at(-1)?.billing_cycles ?? []
  t.strictSame(trial, {
    tenure_type: 'TRIAL',
    sequence: 1,
    total_cycles: 1,
    frequency: { interval_unit: 'DAY', interval_count: 365 },
    pricing_scheme: { fixed_price: { currency_code: 'USD', value: '0.00' } },
  })
  t.match(regular, { tenure_type: 'REGULAR', sequence: 2, total_cycles: 0 })
})

t.test('PayPal: an existing plan is not created again', async (t) => {
  const { fake, catalog, known } = await withMembership(t)
  t.strictSame(await putTestProduct(catalog, membership), known, 'the same key')
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known, 'another key')
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k3', known }), known, 'known')
  fake.forgetRequestIds()
  t.strictSame(await putTestProduct(catalog, membership), known, 'an expired key')
  t.same(plansOf(fake), ['ACTIVE 9.00'])
  t.equal(fake.callsTo(/billing/).filter(({ method }) => method !== 'GET').length, 1)
})

t.test('PayPal: a new price creates a plan and deactivates the former one', async (t) => {
  const { fake, catalog, known } = await withMembership(t)
  const updated = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'k2', known })
  t.not(updated.provider_price_id, known.provider_price_id)
  t.same(plansOf(fake), ['INACTIVE 9.00', 'ACTIVE 12.00'])
  const others = [
    { currency: 'USD' },
    { recurring: { interval: 'year', trial_days: 0 } },
    { recurring: { interval: 'year', trial_days: 7 } },
    { recurring: { interval: 'year', trial_days: 8 } },
  ] as const
  for (const [index, price] of others.entries()) {
    const { provider_price_id } = await putTestProduct(catalog, membershipAt(price), { key: `o${index}` })
    const active = [...fake.catalog.plans.values()].flatMap(({ id, status }) => (status === 'ACTIVE' ? [id] : []))
    t.strictSame(active, [provider_price_id], JSON.stringify(price))
  }
  t.equal(fake.catalog.plans.size, 6)
})

t.test('PayPal: a former price reactivates its plan', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const first = await putTestProduct(catalog, membership, { key: 'a1' })
  const second = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'b', known: first })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'a2', known: second }), first)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'INACTIVE 12.00'])
  const changes = fake.callsTo(/activate$/).length
  t.strictSame(await putTestProduct(catalog, membership, { key: 'a1', known: first }), first)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'INACTIVE 12.00'])
  t.equal(fake.callsTo(/activate$/).length, changes, 'an inactive plan is not deactivated again')
})

t.test('PayPal: price keep leaves the plan unchanged', async (t) => {
  const { fake, catalog, known } = await withMembership(t)
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

t.test('PayPal: the plan of a product that is no longer recurring is deactivated', async (t) => {
  const { fake, catalog, known } = await withMembership(t)
  const once = { ...membership, price: { ...monthly, recurring: null } }
  t.strictSame(await putTestProduct(catalog, once, { key: 'k2', known }), { ...known, provider_price_id: null })
  t.same(plansOf(fake), ['INACTIVE 9.00'])
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k3' }), known)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
  await putTestProduct(catalog, once, { key: 'k4', known: null })
  t.same(plansOf(fake), ['INACTIVE 9.00'], 'also with an unknown plan id')
})

t.test('PayPal: renaming a product renames its plan', async (t) => {
  const { fake, catalog, known } = await withMembership(t)
  const nameOf = () => fake.catalog.plans.get(known.provider_price_id ?? '')?.name
  const renamed = { ...known, kept_fields: ['name'] }
  t.strictSame(await putTestProduct(catalog, { ...membership, name: 'Friends' }, { known }), renamed)
  t.equal(nameOf(), 'Friends')
  t.strictSame(await putTestProduct(catalog, { ...membership, name: 'Circle' }, { known, price: 'keep' }), renamed)
  t.equal(nameOf(), 'Circle')
})

t.test('PayPal: plans that the merchant created are left unchanged', async (t) => {
  const { fake, catalog, known, ours } = await withMembership(t)
  const byHand = [
    { ...ours, payment_preferences: {}, description: 'By hand, at our price' },
    { ...ours, payment_preferences: {}, description: undefined, status: 'CREATED' },
  ].map((plan) => fake.catalog.addPlan(plan))
  const before = byHand.map(({ id }) => fake.catalog.plans.get(id))
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known)
  const updated = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'k3' })
  const oneTime = { ...membership, price: { ...monthly, recurring: null } }
  await putTestProduct(catalog, oneTime, { key: 'k4', known: updated })
  t.strictSame(
    byHand.map(({ id }) => fake.catalog.plans.get(id)),
    before,
  )
  await putTestProduct(catalog, membership, { key: 'k5' })
  t.same(plansOf(fake), ['ACTIVE 9.00', 'ACTIVE 9.00', 'CREATED 9.00', 'INACTIVE 12.00'], 'none is adopted')
})

t.test('PayPal: a known plan id of another product is ignored', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const other = await putTestProduct(catalog, { ...membership, product_id: 'another-one' })
  const known = { ...other, provider_product_id: productId }
  const ours = await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { known })
  t.not(ours.provider_price_id, other.provider_price_id)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'ACTIVE 12.00'])
  t.equal((await putTestProduct(catalog, membership, { price: 'keep', known })).provider_price_id, null)
})

t.test('PayPal: of several plans with the price the oldest stays active', async (t) => {
  const { fake, catalog, known: first, ours } = await withMembership(t)
  const older = fake.catalog.addPlan({ ...ours, payment_preferences: {} })
  fake.catalog.changePlan(older.id, { create_time: '2026-01-01T00:00:00Z' })
  const again = await putTestProduct(catalog, membership, { key: 'k2', known: first })
  t.equal(again.provider_price_id, older.id)
  t.same(plansOf(fake), ['INACTIVE 9.00', 'ACTIVE 9.00'])
})

t.test('PayPal: a known plan stays ours when the merchant changes its description or deactivates it', async (t) => {
  const { fake, catalog, known } = await withMembership(t)
  const id = known.provider_price_id ?? ''
  fake.catalog.changePlan(id, { description: 'For friends of the house', status: 'INACTIVE' })
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2', known }), known)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
  await putTestProduct(catalog, membershipAt({ amount_cents: 1200 }), { key: 'k3', known })
  t.same(plansOf(fake), ['INACTIVE 9.00', 'ACTIVE 12.00'])
})

for (const [name, others, lastPage, distortion] of [
  ['all pages of the plan list are read', 44, 3, {}],
  ['the plan list ends at an empty page after full ones', 19, 2, {}],
  [
    'incomplete pages are followed by their link, and incomplete plans fetched',
    10,
    4,
    { pageSize: 3, isMinimal: true },
  ],
] as const)
  t.test(`PayPal: ${name}`, async (t) => {
    const { fake, catalog, known, ours } = await withMembership(t)
    for (let count = 1; count <= others; count++)
      fake.catalog.addPlan({ ...ours, payment_preferences: {}, description: `By hand, number ${count}` })
    fake.catalog.distortList(distortion)
    t.strictSame(await putTestProduct(catalog, membership, { key: 'k2' }), known)
    t.equal(fake.catalog.plans.size, others + 1)
    const last = fake.callsTo(/billing\/plans\?/).at(-1)
    t.match(last?.path, new RegExp(`product_id=${productId}&page_size=20&page=${lastPage}`))
  })

t.test('PayPal: sixteen parallel calls with one key give equal results and leave one active plan', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const other = catalogAt(t, fake)
  const all = Array.from({ length: 16 }, (_, index) => putTestProduct(index % 2 ? catalog : other, membership))
  const [first, ...rest] = await Promise.all(all)
  for (const one of rest) t.strictSame(one, first)
  t.same(plansOf(fake), ['ACTIVE 9.00'])
})

t.test('PayPal: sixteen parallel calls with different keys leave one active plan', async (t) => {
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

t.test('PayPal: an outdated plan list does not lead to a second plan', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  fake.catalog.distortList({ isBehind: true })
  const known = await putTestProduct(catalog, membership)
  t.strictSame(await putTestProduct(catalog, membership), known, 'found by the key')
  t.strictSame(await putTestProduct(catalog, membership, { key: 'k2', known }), known, 'found by the id')
  t.same(plansOf(fake), ['ACTIVE 9.00'])
})
