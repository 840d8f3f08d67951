import { randomUUID } from 'node:crypto'
import { ProductResource } from '@paylog/domain/products/product'
import { addProductTo, changeProductIn } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const path = '/admin/products'

async function startCatalog(t: Parameters<typeof queryApiHarness>[0]) {
  const api = await queryApiHarness(t)
  return { ...api, get: (query = '', headers: Record<string, string> = asAdmin) => api.get(`${path}${query}`, headers) }
}

/** The catalogue with three products, each created before the previous one, and what a request finds, by their letters. */
async function threeProducts(t: Parameters<typeof queryApiHarness>[0]) {
  const catalog = await startCatalog(t)
  const { log, project, get } = catalog
  const at = (hour: number) => ({ occurred_at: `2026-03-01T1${hour}:00:00.000Z` })
  const [a, b, c] = [
    addProductTo(log, { ...at(0), name: 'Red chair', category_id: 'c1', subtotal_cents: 30 }),
    addProductTo(log, { ...at(1), name: 'blue table', category_id: 'c2', subtotal_cents: 10, is_recurring: true }),
    addProductTo(log, { ...at(2), name: 'Atlas', description: '50% RED', subtotal_cents: 20, product_type: 'digital' }),
  ]
  changeProductIn(log, a, { occurred_at: '2026-03-02T10:00:00.000Z', changes: { is_active: false } })
  await project()
  const letters = new Map([
    [a, 'a'],
    [b, 'b'],
    [c, 'c'],
  ])
  return {
    ...catalog,
    async find(query: string) {
      const response = await get(`?${query}`)
      t.equal(response.statusCode, 200, query)
      const { data, ...page } = response.json()
      return { ...page, found: data.map(({ id }: { id: string }) => letters.get(id)).join('') }
    },
  }
}

t.test('GET /admin/products/{id} returns every field, and the revision as ETag [2.4-fields]', async (t) => {
  const { log, project, get } = await startCatalog(t)
  const given = {
    name: 'Sample plan',
    description: 'Everything, every month',
    product_type: 'subscription' as const,
    is_recurring: true,
    subtotal_cents: 1000,
    tax_cents: 190,
    discount_cents: 90,
    total_cents: 1100,
    currency: 'EUR',
    billing_interval: 'month' as const,
    trial_days: 14,
    category_id: 'plans',
    is_active: true,
  }
  const id = addProductTo(log, { ...given, request_fingerprint: 'secret' })
  changeProductIn(log, id, { occurred_at: '2026-03-02T10:00:00.000Z', changes: { name: 'Plan' } })
  await project()
  const response = await get(`/${id}`)
  t.equal(response.statusCode, 200)
  t.equal(response.headers.etag, '"1"')
  t.same(response.json(), {
    success: true,
    data: {
      id,
      ...given,
      name: 'Plan',
      created_at: '2026-03-01T10:00:00.000Z',
      updated_at: '2026-03-02T10:00:00.000Z',
    },
  })
  t.same(Object.keys(response.json().data), Object.keys(ProductResource.properties))
  const list = (await get()).json()
  t.same(list.data, [response.json().data], 'the list contains the same')
  t.same(Object.keys(list), ['success', 'data', 'meta', 'pagination'])
  t.equal((await get(`/${id.toUpperCase()}`)).statusCode, 200, 'ids are case-insensitive')
})

t.test('GET /admin/products applies every parameter [4.7-filters 4.7-order]', async (t) => {
  const { find } = await threeProducts(t)
  const expected: [string, string][] = [
    ['', 'cba'],
    ['orderDir=asc', 'abc'],
    ['orderBy=name', 'abc'],
    ['orderBy=name&orderDir=asc', 'cba'],
    ['orderBy=subtotal_cents', 'acb'],
    ['orderBy=subtotal_cents&orderDir=asc', 'bca'],
    ['orderBy=updated_at', 'acb'],
    ['orderBy=updated_at&orderDir=asc', 'bca'],
    ['orderBy=created_at', 'cba'],
    ['category_id=c1', 'a'],
    ['category_id=C1', ''],
    ['product_type=physical', 'ba'],
    ['product_type=service', ''],
    ['is_recurring=true', 'b'],
    ['is_recurring=false', 'ca'],
    ['is_active=true', 'cb'],
    ['is_active=false', 'a'],
    ['is_active=true&product_type=digital&is_recurring=false', 'c'],
    ['search=red', 'ca'],
    ['search=50%25', 'c'],
    ['search=BLUE', 'b'],
    ['search=e', 'cba'],
    ['search=', 'cba'],
    ['search=red&is_active=true', 'c'],
    ['unknown=1&sort=x', 'cba'],
  ]
  for (const [query, names] of expected) {
    const { found, pagination } = await find(query)
    t.same([found, pagination.total], [names, names.length], query)
  }
})

t.test(
  'GET /admin/products: page takes precedence over offset, and the response contains both [4.7-paging]',
  async (t) => {
    const { find, get } = await threeProducts(t)
    const expected: [string, string, object][] = [
      ['', 'cba', { limit: 20, offset: 0, page: 1, pages: 1 }],
      ['limit=2', 'cb', { limit: 2, offset: 0, page: 1, pages: 2 }],
      ['limit=2&page=2', 'a', { limit: 2, offset: 2, page: 2, pages: 2 }],
      ['limit=2&offset=1', 'ba', { limit: 2, offset: 1, page: 1, pages: 2 }],
      ['limit=1&offset=2', 'a', { limit: 1, offset: 2, page: 3, pages: 3 }],
      ['limit=2&offset=1&page=1', 'cb', { limit: 2, offset: 0, page: 1, pages: 2 }],
      ['limit=2&page=3', '', { limit: 2, offset: 4, page: 3, pages: 2 }],
      ['offset=3', '', { limit: 20, offset: 3, page: 1, pages: 1 }],
      ['limit=100&page=2147483647', '', { limit: 100, offset: 214748364600, page: 2147483647, pages: 1 }],
      ['limit=100&offset=2147483647', '', { limit: 100, offset: 2147483647, page: 21474837, pages: 1 }],
    ]
    for (const [query, names, pagination] of expected) {
      const page = await find(query)
      t.same([page.found, page.pagination], [names, { total: 3, ...pagination }], query)
    }
    t.same((await get('?category_id=none')).json(), {
      success: true,
      data: [],
      pagination: { total: 0, limit: 20, offset: 0, page: 1, pages: 0 },
      meta: { limit: 20, next_cursor: null },
    })
  },
)

// Ties, changes between the pages, and every order of a list: lists/lists.test.ts.
t.test('GET /admin/products pages by cursor in every order, to the last full page [10.3-product-cursor]', async (t) => {
  const { find } = await threeProducts(t)
  for (const orderBy of ['created_at', 'updated_at', 'subtotal_cents', 'name'])
    for (const orderDir of ['asc', 'desc']) {
      const query = `orderBy=${orderBy}&orderDir=${orderDir}`
      const { found: all } = await find(query)
      let [page, found] = [await find(`${query}&limit=1`), '']
      for (found += page.found; page.meta.next_cursor !== null; found += page.found)
        page = await find(`${query}&limit=1&page=7&cursor=${page.meta.next_cursor}`)
      t.equal(found, all, query)
      t.notOk('pagination' in page, 'a page by cursor is not counted, and page is ignored')
    }
  const { meta } = await find('limit=1&search=e')
  t.equal((await find(`limit=2&search=e&cursor=${meta.next_cursor}`)).found, 'ba', 'the limit may change')
})

t.test(
  'GET /admin/products: a cursor with another order or filter, or a changed one, is 400 [10.3-product-cursor]',
  async (t) => {
    const { find, get } = await threeProducts(t)
    const cursor: string = (await find('limit=1')).meta.next_cursor
    const [value, id, sum] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const changed = (...content: unknown[]) => Buffer.from(JSON.stringify(content)).toString('base64url')
    for (const query of [
      `cursor=${cursor}&orderBy=updated_at`,
      `cursor=${cursor}&orderDir=asc`,
      `cursor=${cursor}&is_active=true`,
      `cursor=${cursor}&search=red`,
      `cursor=${cursor.slice(1)}`,
      `cursor=${changed(value, randomUUID(), sum)}`,
      `cursor=${changed('2026-01-01T00:00:00.000Z', id, sum)}`,
      `cursor=${changed(value, id)}`,
    ]) {
      const response = await get(`?limit=1&${query}`)
      t.equal(response.statusCode, 400, query)
      t.match(response.json().error, { code: 'invalid_request', details: { fields: [{ field: 'cursor' }] } })
    }
  },
)
