import type { ProductAdded } from '@paylog/domain/products/events'
import { products } from '@paylog/projections/products/projection'
import { addProductTo, createLogFixture } from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import t, { type Test } from 'tap'
import type { ListQuery } from '../lists/lists.ts'
import { readPage } from '../lists/lists.ts'
import { productList } from './queries.ts'

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
const oldestFirst = { limit: 100, offset: 0, orderDir: 'asc' } as const

/** Products numbered from 0, created a minute apart. @returns the numbers that a query finds */
async function withProducts(t: Test, given: readonly Partial<ProductAdded['data']>[]) {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (const [index, facts] of given.entries()) {
    const occurred_at = `2026-03-01T10:${String(index).padStart(2, '0')}:00.000Z`
    addProductTo(log, { occurred_at, ...facts, product_id: id(index) })
  }
  await reapply(pool, products, log)
  return async (query: Partial<ListQuery> & { readonly offset?: number }) => {
    const { items } = await readPage(pool, productList, { ...oldestFirst, ...query })
    return items.map((item) => Number(item.id.slice(-12)))
  }
}

t.test('products: names are ordered without case, then by id [4.7-order-name]', async (t) => {
  const names = ['beta', 'Alpha', 'Ärger', 'alpha', 'Zeta', 'BETA', '10', '9', '\u{1F600}', '\uff21', ' b', 'alpha b']
  const numbers = await withProducts(
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

t.test('products: search finds parts of name and description, and has no wildcards [4.7-search]', async (t) => {
  const numbers = await withProducts(t, [
    { name: '100% cotton' },
    { name: '1000 cotton', category_id: 'wool' },
    { name: 'file_name', description: 'back\\slash' },
    { name: 'file-name', description: 'U\u0308BERWEISUNG' },
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
    ['u\u0308b', [3]],
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
