import type { ProductAdded } from '@paylog/domain/products/events'
import { productFold } from '@paylog/domain/products/product'
import t, { type Test } from 'tap'
import { allProductsQuery } from '../testing/catalogFixture.ts'
import { addProductTo, createLogFixture } from '../testing/logFixture.ts'
import { readModelDatabase, reapply, recordingPool } from '../testing/projectionHarness.ts'
import { products } from './projection.ts'
import { getProduct, listProducts, type ProductsQuery } from './queries.ts'

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
const oldestFirst: ProductsQuery = { ...allProductsQuery, orderDir: 'asc' }

/** Products numbered from 0, created a minute apart. */
async function withProducts(t: Test, given: readonly Partial<ProductAdded['data']>[]) {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (const [index, facts] of given.entries()) {
    const occurred_at = `2026-03-01T10:${String(index).padStart(2, '0')}:00.000Z`
    addProductTo(log, { occurred_at, ...facts, product_id: id(index) })
  }
  await reapply(pool, products, log)
  const numbers = async (query: Partial<ProductsQuery>) => {
    const { items } = await listProducts(pool, { ...oldestFirst, ...query })
    return items.map((item) => Number(item.id.slice(-12)))
  }
  return { pool, log, numbers }
}

t.test('products: each filter narrows the list and its total, also combined', async (t) => {
  const { pool, numbers } = await withProducts(t, [
    { category_id: 'a', product_type: 'digital', is_recurring: true },
    { category_id: 'a', product_type: 'digital', is_active: false },
    { category_id: 'b', product_type: 'service', is_recurring: true },
    { category_id: null },
    { category_id: 'A', description: 'digital' },
  ])
  t.same(await numbers({ category_id: 'a' }), [0, 1])
  t.same(await numbers({ category_id: 'c' }), [])
  t.same(await numbers({ product_type: 'digital' }), [0, 1])
  t.same(await numbers({ product_type: 'subscription' }), [])
  t.same(await numbers({ is_recurring: true }), [0, 2])
  t.same(await numbers({ is_recurring: false }), [1, 3, 4])
  t.same(await numbers({ is_active: true }), [0, 2, 3, 4])
  t.same(await numbers({ is_active: false }), [1])
  t.same(await numbers({ category_id: 'a', product_type: 'digital', is_recurring: false, is_active: false }), [1])
  t.same(await numbers({ category_id: 'a', search: 'digital' }), [])
  t.equal((await listProducts(pool, { ...oldestFirst, category_id: 'a', limit: 1 })).total, 2)
  t.equal(
    (await listProducts(pool, { ...oldestFirst, category_id: 'a', offset: 9 })).total,
    2,
    'the total is the same past the end',
  )
})

t.test('products: a list starts at any offset, also far beyond its end', async (t) => {
  const { numbers } = await withProducts(t, Array(7).fill({}))
  t.same(await numbers({ limit: 3 }), [0, 1, 2])
  t.same(await numbers({ limit: 3, offset: 2 }), [2, 3, 4])
  t.same(await numbers({ limit: 3, offset: 2, orderDir: 'desc' }), [4, 3, 2])
  t.same(await numbers({ limit: 3, offset: 6 }), [6])
  t.same(await numbers({ offset: 7 }), [])
  t.same(await numbers({ offset: (2 ** 31 - 2) * 100 }), [])
})

t.test('products: names are ordered without case, then by id [4.7-order-name]', async (t) => {
  const names = ['beta', 'Alpha', 'Ärger', 'alpha', 'Zeta', 'BETA', '10', '9', '\u{1F600}', '\uff21', ' b', 'alpha b']
  const { numbers } = await withProducts(
    t,
    names.map((name) => ({ name })),
  )
  const order = [' b', '10', '9', 'Alpha', 'alpha', 'alpha b', 'beta', 'BETA', 'Zeta', 'Ärger', '\uff21', '\u{1F600}']
  const asc = await numbers({ orderBy: 'name' })
  t.same(
    asc.map((number) => names[number]),
    order,
  )
  t.same(await numbers({ orderBy: 'name', orderDir: 'desc' }), asc.toReversed())
  t.same(await numbers({ orderBy: 'name', offset: 4, limit: 3 }), asc.slice(4, 7))
  const desc = { orderBy: 'name', orderDir: 'desc', offset: 5, limit: 3 } as const
  t.same(await numbers(desc), asc.toReversed().slice(5, 8), 'also where a page ends between two of them')
})

t.test('products: amounts and times are ordered by value, then by id [4.7-order]', async (t) => {
  const { pool, log, numbers } = await withProducts(t, [
    { subtotal_cents: 1000 },
    { subtotal_cents: 99 },
    { subtotal_cents: 1000 },
    { subtotal_cents: 1000, occurred_at: '2026-03-01T10:02:00.000Z' },
  ])
  t.same(await numbers({ orderBy: 'subtotal_cents' }), [1, 0, 2, 3])
  t.same(await numbers({ orderBy: 'subtotal_cents', orderDir: 'desc' }), [3, 2, 0, 1])
  t.same(await numbers({ orderBy: 'created_at', orderDir: 'desc' }), [3, 2, 1, 0])
  const data = { product_id: id(1), occurred_at: '2026-03-01T12:00:00.000Z' }
  log.record(productFold, id(1), () => [{ type: 'ProductDeactivated', data }])
  await reapply(pool, products, log)
  t.same(await numbers({ orderBy: 'updated_at' }), [0, 2, 3, 1])
  t.same(await numbers({ orderBy: 'created_at' }), [0, 1, 2, 3], 'a change keeps the creation time')
})

t.test('products: search finds parts of name and description, and has no wildcards [4.7-search]', async (t) => {
  const { numbers } = await withProducts(t, [
    { name: '100% cotton' },
    { name: '1000 cotton', category_id: 'wool' },
    { name: 'file_name', description: 'back\\slash' },
    { name: 'file-name', description: 'ÜBERWEISUNG' },
    { name: '日本語の本', description: 'ΟΔΟΣ' },
    { name: 'İstanbul', description: 'Straße' },
    { name: 'x', description: 'ends with q' },
    { name: 'q begins', description: null },
  ])
  const searches: [string, number[]][] = [
    ['COTTON', [0, 1]],
    ['0%', [0]],
    ['%', [0]],
    ['e_n', [2]],
    ['_', [2]],
    ['k\\s', [2]],
    ['\\', [2]],
    ['überweisung', [3]],
    ['Üb', [3]],
    ['本語', [4]],
    ['本', [4]],
    ['日本語', [4]],
    ['οδος', []],
    ['ΟΔΟΣ', [4]],
    ['οδοσ', [4]],
    ['i\u0307stan', [5]],
    ['İ', [5]],
    ['istan', []],
    ['STRASSE', []],
    ['straße', [5]],
    ['q', [6, 7]],
    ['qq', []],
    ['wool', []],
    [' ', [0, 1, 6, 7]],
    ["'; drop table x; --", []],
    ['null', []],
  ]
  for (const [search, expected] of searches) t.same(await numbers({ search }), expected, search)
  t.equal((await numbers({ search: '' })).length, 8, 'an empty search matches everything')
})

t.test('a product page is one statement without a name, a single product has a named one', async (t) => {
  const { pool } = await withProducts(t, [{}])
  const { db, queries } = recordingPool(pool)
  await listProducts(db, { ...oldestFirst, search: 'example' })
  const found = await getProduct(db, { id: id(0) })
  t.match(found, { item: { id: id(0) }, revision: 0n })
  t.equal(await getProduct(db, { id: id(1) }), undefined)
  t.same(
    queries.map(({ name }) => name !== undefined),
    [false, true, true],
  )
})
