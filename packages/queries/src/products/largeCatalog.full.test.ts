// Products in a large catalogue: correct results, and no query that reads more than it needs.

import type { ProductEvent } from '@paylog/domain/products/events'
import { type ProductResource, productFold, productResource } from '@paylog/domain/products/product'
import { createApplier } from '@paylog/projections/apply/applier'
import { copyRows } from '@paylog/projections/apply/writers'
import { products } from '@paylog/projections/products/projection'
import type { ProjectedEvent } from '@paylog/projections/projection'
import { foldCase } from '@paylog/projections/searchText'
import { indexTable, makeTable, promoteTable } from '@paylog/projections/tables/tables'
import { allProductsQuery, catalogFixture, vocabulary } from '@paylog/projections/testing/catalogFixture'
import { noErasures } from '@paylog/projections/testing/noErasures'
import { readModelDatabase } from '@paylog/projections/testing/projectionHarness'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import { positionAt } from '@paylog/testing/positionAt'
import { recordingPool } from '@paylog/testing/recordingPool'
import fc from 'fast-check'
import type { QueryConfig } from 'pg'
import t from 'tap'
import { readPage } from '../lists/lists.ts'
import { productList } from './queries.ts'

const count = 25_000

/** Scattered like ids of version 4. */
const idOf = (number: number) =>
  `${(Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
const events: readonly (ProjectedEvent & ProductEvent)[] = [...catalogFixture(count, idOf)]
const { pool } = await readModelDatabase(t)
// Like a rebuild: copied, then indexed.
const version = await makeTable(pool, products, 'building')
const applier = createApplier({ pool, projection: products, version, source: noErasures, writer: copyRows })
await applier.start()
const position = positionAt(1n)
await applier.apply({ events, position })
await indexTable(pool, products, version)
await inTransaction(pool, (client) => promoteTable(client, products, { version, position, viewLockTimeoutMs: 1_000 }))

type Known = { readonly item: ProductResource; readonly text: string; readonly name: Buffer }

/** The same catalogue, folded by the domain. */
const all = [...Map.groupBy(events, ({ data }) => data.product_id).values()].map((own): Known => {
  const state = own.reduce(productFold.evolve, productFold.initialState)
  if (state.status === 'none') throw new Error('The product was not added')
  const item = productResource(state)
  return { item, text: foldCase(`${item.name}\x1f${item.description ?? ''}`), name: Buffer.from(foldCase(item.name)) }
})

/** All times have the same format, so they can be compared as text. */
const orders: Readonly<Record<ProductsQuery['orderBy'], (one: Known, other: Known) => number>> = {
  name: (one, other) => Buffer.compare(one.name, other.name),
  subtotal_cents: ({ item: one }, { item: other }) => one.subtotal_cents - other.subtotal_cents,
  created_at: ({ item: one }, { item: other }) => compare(one.created_at, other.created_at),
  updated_at: ({ item: one }, { item: other }) => compare(one.updated_at, other.updated_at),
}
const inOrder = new Map(
  Object.entries(orders).map(([order, byOrder]) => [
    order,
    all.toSorted((one, other) => byOrder(one, other) || compare(one.item.id, other.item.id)),
  ]),
)

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

function expected({ search, orderBy, orderDir, offset, limit, ...filters }: ProductsQuery) {
  const conditions = Object.entries(filters).filter(([, value]) => value !== undefined)
  const part = search === undefined ? '' : foldCase(search)
  const found = (inOrder.get(orderBy) ?? []).filter(
    ({ item, text }) =>
      conditions.every(([field, value]) => String(Reflect.get(item, field)) === value) && text.includes(part),
  )
  const known = orderDir === 'asc' ? found : found.toReversed()
  return { total: known.length, items: known.slice(offset, offset + limit).map(({ item }) => item) }
}

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 })
/** Parts of existing texts in any length and case, sometimes of none. */
const search = fc
  .record({
    from: fc.nat(count - 1),
    start: fc.nat(60),
    length: fc.constantFrom(1, 2, 3, 4, 6, 9, 15),
    change: fc.constantFrom('', 'upper', 'strange'),
  })
  .map(({ from, start, length, change }) => {
    const { name = '', description } = all[from]?.item ?? {}
    const part = `${name} ${description ?? ''}`.slice(start, start + length)
    if (change === 'strange') return `${part}%_x`
    return change === 'upper' ? part.toUpperCase() : part
  })
const query = fc.record({
  category_id: maybe(fc.nat(50).map((number) => `category-${number}`)),
  product_type: maybe(fc.constantFrom('physical', 'digital', 'service', 'subscription')),
  is_recurring: maybe(fc.constantFrom('true', 'false')),
  is_active: maybe(fc.constantFrom('true', 'false')),
  search: maybe(search),
  orderBy: fc.constantFrom('name', 'subtotal_cents', 'created_at', 'updated_at'),
  orderDir: fc.constantFrom('asc', 'desc'),
  offset: fc.oneof(fc.constant(0), fc.nat(200), fc.nat(count + 100)),
  limit: fc.integer({ min: 1, max: 100 }),
})
type ProductsQuery = typeof query extends fc.Arbitrary<infer Query> ? Query : never

t.test('every page of a large catalogue equals a filter and sort in memory', async (t) => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(query, async (parameters) => {
      const { items, total } = await readPage(pool, productList, parameters)
      const page = expected(parameters)
      found += page.items.length
      t.equal(total, page.total)
      t.same(items, page.items)
      return t.passing()
    }),
    { seed: 7, numRuns: 50, endOnFailure: true },
  )
  t.ok(found > 500, `the queries find products: ${found}`)
})

const firstPage = { ...allProductsQuery, limit: 20 }

/** The plan of a query, with actual row counts. */
async function planOf(query: Partial<ProductsQuery>): Promise<string> {
  const { db, queries } = recordingPool(pool)
  await readPage(db, productList, { ...firstPage, ...query })
  const [{ text, values } = { text: '', values: [] }]: readonly QueryConfig[] = queries
  const explained = `explain (analyze, costs off, timing off, summary off, buffers off) ${text}`
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(explained, values)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

const common = vocabulary[0] ?? ''
const rare = vocabulary.at(-1) ?? ''

t.test('orders, filters and pages read only indexes, up to the rows of the page', async (t) => {
  const cases: [Partial<ProductsQuery>, string][] = [
    [{}, 'creation'],
    [{ orderBy: 'name', orderDir: 'asc' }, 'name'],
    [{ orderBy: 'subtotal_cents' }, 'subtotal'],
    [{ orderBy: 'updated_at' }, 'update'],
    [{ offset: 19_980 }, 'creation'],
    [{ orderBy: 'name', offset: count - 20 }, 'name'],
    [{ category_id: 'category-0' }, 'creation'],
    [{ product_type: 'digital', is_active: 'true' }, 'creation'],
    [{ is_recurring: 'true', orderBy: 'subtotal_cents', orderDir: 'asc', offset: 1_000 }, 'subtotal'],
    [{ category_id: 'category-0', is_active: 'false', orderBy: 'name' }, 'name'],
  ]
  for (const [parameters, index] of cases) {
    const plan = await planOf(parameters)
    const about = JSON.stringify(parameters)
    t.match(plan, new RegExp(`Index Only Scan (Backward )?using products_v2_by_${index} `), about)
    t.match(plan, /Index Only Scan using products_v2_by_filters /, about)
    t.match(plan, /Index Scan using products_v2_pkey .*rows=1(\.00)? loops=20/, about)
    t.notMatch(plan, /Seq Scan/, about)
  }
})

t.test(
  'search uses the trigram index for a rare word, and the order index for a common one or two letters',
  async (t) => {
    const trigramScan = /Bitmap Index Scan on products_v2_by_text/
    for (const parameters of [{}, { orderBy: 'name' as const }, { is_active: 'true' as const }])
      t.match(await planOf({ ...parameters, search: rare }), trigramScan, JSON.stringify(parameters))
    t.match(await planOf({ search: 'nothing like it' }), trigramScan)
    const plan = await planOf({ search: common })
    t.match(plan, /Index Scan Backward using products_v2_by_creation/)
    for (const search of ['qu', 'q', '語']) t.notMatch(await planOf({ search }), trigramScan, search)
  },
)
