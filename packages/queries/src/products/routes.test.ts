import { randomUUID } from 'node:crypto'
import { ProductResource } from '@paylog/domain/products/product'
import { addProductTo, changeProductIn, type LogFixture } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const path = '/admin/products'

async function startCatalog(t: Parameters<typeof queryApiHarness>[0]) {
  const api = await queryApiHarness(t)
  return { ...api, get: (query = '', headers: Record<string, string> = asAdmin) => api.get(`${path}${query}`, headers) }
}

/** Three products, each created before the previous one. */
function threeProducts(log: LogFixture) {
  const at = (hour: number) => ({ occurred_at: `2026-03-01T1${hour}:00:00.000Z` })
  const a = addProductTo(log, { ...at(0), name: 'Red chair', category_id: 'c1', subtotal_cents: 30 })
  const b = addProductTo(log, {
    ...at(1),
    name: 'blue table',
    category_id: 'c2',
    subtotal_cents: 10,
    is_recurring: true,
  })
  const c = addProductTo(log, {
    ...at(2),
    name: 'Atlas',
    description: '50% RED',
    subtotal_cents: 20,
    product_type: 'digital',
  })
  changeProductIn(log, a, { occurred_at: '2026-03-02T10:00:00.000Z', changes: { is_active: false } })
  return new Map([
    [a, 'a'],
    [b, 'b'],
    [c, 'c'],
  ])
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
  const { log, project, get } = await startCatalog(t)
  const named = threeProducts(log)
  await project()
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
    const response = await get(`?${query}`)
    t.equal(response.statusCode, 200, query)
    const { data, pagination } = response.json()
    t.equal(data.map(({ id }: { id: string }) => named.get(id)).join(''), names, query)
    t.equal(pagination.total, names.length, query)
  }
})

t.test(
  'GET /admin/products: page takes precedence over offset, and the response contains both [4.7-paging]',
  async (t) => {
    const { log, project, get } = await startCatalog(t)
    const named = threeProducts(log)
    await project()
    const expected: [string, string, object][] = [
      ['', 'cba', { limit: 20, offset: 0, page: 1, pages: 1 }],
      ['limit=2', 'cb', { limit: 2, offset: 0, page: 1, pages: 2 }],
      ['limit=2&page=2', 'a', { limit: 2, offset: 2, page: 2, pages: 2 }],
      ['limit=2&offset=1', 'ba', { limit: 2, offset: 1, page: 1, pages: 2 }],
      ['limit=2&offset=2', 'a', { limit: 2, offset: 2, page: 2, pages: 2 }],
      ['limit=1&offset=2', 'a', { limit: 1, offset: 2, page: 3, pages: 3 }],
      ['limit=2&offset=1&page=1', 'cb', { limit: 2, offset: 0, page: 1, pages: 2 }],
      ['limit=2&page=2&offset=0', 'a', { limit: 2, offset: 2, page: 2, pages: 2 }],
      ['limit=2&page=3', '', { limit: 2, offset: 4, page: 3, pages: 2 }],
      ['offset=3', '', { limit: 20, offset: 3, page: 1, pages: 1 }],
      ['limit=100&page=2147483647', '', { limit: 100, offset: 214748364600, page: 2147483647, pages: 1 }],
      ['limit=100&offset=2147483647', '', { limit: 100, offset: 2147483647, page: 21474837, pages: 1 }],
    ]
    for (const [query, names, pagination] of expected) {
      const response = await get(`?${query}`)
      t.equal(response.statusCode, 200, query)
      const found = response.json()
      t.equal(found.data.map(({ id }: { id: string }) => named.get(id)).join(''), names, query)
      t.same(found.pagination, { total: 3, ...pagination }, query)
    }
    t.same((await get('?category_id=none')).json(), {
      success: true,
      data: [],
      pagination: { total: 0, limit: 20, offset: 0, page: 1, pages: 0 },
      meta: { limit: 20, next_cursor: null },
    })
  },
)

/** The names of the products on each page, from the first one by cursor. */
async function pagesByCursor({ get }: Pick<Awaited<ReturnType<typeof startCatalog>>, 'get'>, query: string) {
  const pages: string[] = []
  let page = (await get(`?${query}`)).json()
  for (;;) {
    pages.push(page.data.map(({ name }: { name: string }) => name).join(' '))
    if (page.meta.next_cursor === null) return pages
    page = (await get(`?${query}&cursor=${page.meta.next_cursor}`)).json()
  }
}

t.test(
  'GET /admin/products pages by cursor in every order, with ties, filters and the last full page [10.3-product-cursor]',
  async (t) => {
    const catalog = await startCatalog(t)
    for (const [name, minute, subtotal_cents] of [
      ['D', 0, 5],
      ['b', 1, 5],
      ['A', 1, 7],
      ['c', 1, 5],
    ] as const)
      addProductTo(catalog.log, { name, subtotal_cents, occurred_at: `2026-03-01T10:0${minute}:00.000Z` })
    await catalog.project()
    t.same(await pagesByCursor(catalog, 'limit=3&orderBy=name&orderDir=asc'), ['A b c', 'D'])
    t.same(await pagesByCursor(catalog, 'limit=2&orderBy=name'), ['D c', 'b A'], 'the last page is full')
    for (const orderBy of ['created_at', 'updated_at', 'subtotal_cents', 'name'])
      for (const orderDir of ['asc', 'desc']) {
        const order = `orderBy=${orderBy}&orderDir=${orderDir}`
        const [all] = await pagesByCursor(catalog, order)
        t.equal((await pagesByCursor(catalog, `${order}&limit=1`)).join(' '), all, order)
      }
    const cheap = await pagesByCursor(catalog, 'limit=1&search=b&orderBy=name')
    t.same(cheap, ['b'])
    const [first] = (await catalog.get('?limit=1&offset=1&orderBy=name')).json().data
    t.equal(first.name, 'c')
  },
)

t.test('GET /admin/products by cursor neither repeats nor skips products when others are added', async (t) => {
  const catalog = await startCatalog(t)
  const add = (name: string, hour: number) =>
    addProductTo(catalog.log, { name, occurred_at: `2026-03-01T${hour}:00:00.000Z` })
  for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) add(name, 10 + index)
  await catalog.project()
  const { meta } = (await catalog.get('?limit=2')).json()
  add('newer', 20)
  await catalog.project()
  const next = (await catalog.get(`?limit=2&cursor=${meta.next_cursor}&page=7`)).json()
  t.same(
    next.data.map(({ name }: { name: string }) => name),
    ['b', 'a'],
  )
  t.equal(next.meta.next_cursor, null)
  t.notOk('pagination' in next, 'a page by cursor is not counted')
})

t.test(
  'GET /admin/products: a cursor with another order or filter, or a changed one, is 400 [10.3-product-cursor]',
  async (t) => {
    const catalog = await startCatalog(t)
    threeProducts(catalog.log)
    await catalog.project()
    const cursor: string = (await catalog.get('?limit=1')).json().meta.next_cursor
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
      const response = await catalog.get(`?limit=1&${query}`)
      t.equal(response.statusCode, 400, query)
      t.match(response.json().error, { code: 'invalid_request', details: { fields: [{ field: 'cursor' }] } })
    }
    t.equal((await catalog.get(`?limit=50&cursor=${cursor}`)).statusCode, 200, 'the limit may change')
  },
)
