// Product sync with PayPal under faults: repeating it leaves each product once.
import type { Fault } from '@paylog/testing/fakeServer'
import type { FakePaypal } from '@paylog/testing/paypal/fakePaypal'
import t, { type Test } from 'tap'
import type { CatalogProduct, ProductCatalog, ProviderProductIds } from '../productCatalog.ts'
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

const shortFaults: readonly Fault[] = [
  { kind: 'drop', commits: false },
  { kind: 'drop', commits: true },
  { kind: 'status', status: 500, commits: false },
  { kind: 'status', status: 503, commits: true },
  { kind: 'garbage', commits: true },
]
/** Without garbage: calls that create nothing accept any success status and ignore the body. */
const lastingFaults: readonly Fault[] = [
  ...shortFaults.filter(({ kind }) => kind !== 'garbage'),
  { kind: 'hang', commits: false },
  { kind: 'hang', commits: true },
]
const unknown = { name: 'ProviderError', kind: 'unknown' }

type Scenario = {
  readonly name: string
  /** Prepares the state before the call. @returns the known ids */
  readonly prepare: (catalog: ProductCatalog) => Promise<ProviderProductIds | null>
  readonly product: CatalogProduct
  /** The number of calls that change something. */
  readonly writes: number
}

const higherPrice = membershipAt({ amount_cents: 1200 })
const scenarios: readonly Scenario[] = [
  { name: 'a new product', prepare: async () => null, product: membership, writes: 2 },
  {
    name: 'another price and description',
    prepare: (catalog) => putTestProduct(catalog, membership, { key: 'before' }),
    product: { ...higherPrice, name: 'Friends', description: null },
    writes: 3,
  },
  {
    name: 'a former price, with another name',
    async prepare(catalog) {
      await putTestProduct(catalog, membership, { key: 'before' })
      return putTestProduct(catalog, higherPrice, { key: 'between' })
    },
    product: { ...membership, name: 'Friends', description: 'For friends' },
    writes: 4,
  },
  {
    name: 'no longer recurring',
    prepare: (catalog) => putTestProduct(catalog, membership, { key: 'before' }),
    product: { ...membership, price: { ...monthly, recurring: null } },
    writes: 1,
  },
]

/** The fake's products and plans, without ids. */
function stateOf(fake: FakePaypal) {
  const plans = [...fake.catalog.plans.values()].map(({ id: _, create_time: __, ...plan }) => plan)
  return { product: fake.catalog.products.get(productId), plans, all: fake.catalog.products.size }
}

const writesOf = (fake: FakePaypal) => fake.callsTo(/catalogs|billing/).filter(({ method }) => method !== 'GET').length

/** The state after a run without faults. */
async function expectedState(t: Test, { prepare, product, writes }: Scenario) {
  const { fake, catalog } = await catalogHarness(t)
  const known = await prepare(catalog)
  const before = writesOf(fake)
  await putTestProduct(catalog, product, { known })
  t.equal(writesOf(fake) - before, writes, 'number of writing calls')
  return stateOf(fake)
}

/** The scenarios run in parallel. */
async function forEach<Item>(items: readonly Item[], check: (item: Item) => Promise<void>): Promise<void> {
  await Promise.all(items.map(check))
}
const indexes = (many: number) => Array.from({ length: many }, (_, index) => index)
const noFaults = (many: number): undefined[] => Array(many).fill(undefined)

for (const scenario of scenarios) {
  const { name, prepare, product, writes } = scenario

  t.test(`PayPal: a short fault is overcome within the product sync: ${name}`, async (t) => {
    const expected = await expectedState(t, scenario)
    await forEach(indexes(writes), (index) =>
      forEach(shortFaults, async (fault) => {
        const { fake, catalog } = await catalogHarness(t)
        const known = await prepare(catalog)
        fake.faults.next(...noFaults(index), fault)
        await putTestProduct(catalog, product, { known })
        t.strictSame(stateOf(fake), expected, `call ${index}: ${JSON.stringify(fault)}`)
      }),
    )
  })

  t.test(`PayPal: a failed product sync is completed by the next one, with any key: ${name}`, async (t) => {
    const expected = await expectedState(t, scenario)
    await forEach(indexes(writes), (index) =>
      forEach(lastingFaults, async (fault) => {
        const { fake, catalog } = await catalogHarness(t)
        const known = await prepare(catalog)
        const withoutRetries = catalogAt(t, fake, { retries: false, timeoutMs: 800 })
        fake.faults.next(...noFaults(index), fault)
        const label = `call ${index}: ${JSON.stringify(fault)}`
        await t.rejects(putTestProduct(withoutRetries, product, { known }), unknown, label)
        fake.forgetRequestIds()
        await putTestProduct(catalogAt(t, fake), product, { key: 'k2', known })
        t.strictSame(stateOf(fake), expected, label)
      }),
    )
  })
}

t.test('PayPal: a plan whose create response was lost is deactivated by a new price', async (t) => {
  const { fake, catalog } = await catalogHarness(t)
  const known = await putTestProduct(catalog, membership)
  fake.faults.next(undefined, { kind: 'drop', commits: true })
  const withoutRetries = catalogAt(t, fake, { retries: false })
  const lost = { ...higherPrice, description: 'For friends' }
  await t.rejects(putTestProduct(withoutRetries, lost, { key: 'k2', known }), unknown)
  t.same(plansOf(fake), ['ACTIVE 9.00', 'ACTIVE 12.00'])
  fake.forgetRequestIds()
  const latest = { ...membershipAt({ amount_cents: 1500 }), description: 'For friends' }
  await putTestProduct(catalogAt(t, fake), latest, { key: 'k3', known })
  t.same(plansOf(fake), ['INACTIVE 9.00', 'INACTIVE 12.00', 'ACTIVE 15.00'])
})
