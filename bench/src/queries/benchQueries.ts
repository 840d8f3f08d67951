// The measured queries: URLs of the API for a random row or owner.

import { vocabulary } from '@paylog/projections/testing/catalogFixture'
import { listIdentity } from '@paylog/queries/lists/lists'
import { productList } from '@paylog/queries/products/queries'
import { encodeCursor } from '@paylog/runtime/http/cursor'
import { idOf, ownerOfRow, type Spread, type Thing } from './owners.ts'

export type BenchQuery = {
  readonly name: string
  /** The kind of the id in the path. */
  readonly thing?: Thing
  /** Always this owner, instead of the owner of the random row. */
  readonly owner?: number
  readonly path: (id: string) => string
  /** Single resources and first pages: their rate has a target. */
  readonly hasTarget?: boolean
}

export function benchQueries(spread: Spread): readonly BenchQuery[] {
  return [...ownedQueries(spread), ...productQueries(spread)]
}

/** Catalogue queries are sent as the administrator. */
export const isProductQuery = ({ owner }: BenchQuery, { administrator }: Spread) => owner === administrator

/** The number of rows to choose from. */
export const rowsOf = (query: BenchQuery, spread: Spread) =>
  isProductQuery(query, spread) ? spread.products : spread.rows

const hasTarget = true

function ownedQueries({ withThousand, withTenThousand }: Spread): readonly BenchQuery[] {
  return [
    { hasTarget, name: 'GET /payments', path: () => '/payments' },
    { name: 'GET /payments, 50 of a page', path: () => '/payments?limit=50' },
    { name: 'GET /payments include=payment_method', path: () => '/payments?include=payment_method' },
    { name: 'GET /payments status', path: () => '/payments?status=succeeded' },
    { name: 'GET /payments search', path: () => '/payments?search=Order%2012' },
    { name: 'GET /payments orderBy=amount_cents', path: () => '/payments?orderBy=amount_cents' },
    { name: 'GET /payments, last page', path: () => '/payments?page=3' },
    { name: 'GET /payments, 1,000 rows, last page', owner: withThousand, path: () => '/payments?page=50' },
    { name: 'GET /payments, 10,000 rows', owner: withTenThousand, path: () => '/payments' },
    { name: 'GET /payments, 10,000 rows, last page', owner: withTenThousand, path: () => '/payments?page=500' },
    { hasTarget, name: 'GET /payments/{id}', thing: 'payment', path: (id) => `/payments/${id}` },
    { hasTarget, name: 'GET /payment-methods', path: () => '/payment-methods' },
    { hasTarget, name: 'GET /payment-methods/{id}', thing: 'method', path: (id) => `/payment-methods/${id}` },
    { hasTarget, name: 'GET /addresses', path: () => '/addresses' },
    { name: 'GET /addresses, by type', path: () => '/addresses?address_type=billing' },
    { hasTarget, name: 'GET /addresses/{id}', thing: 'address', path: (id) => `/addresses/${id}` },
  ]
}

function productQueries({ administrator: owner, products }: Spread): readonly BenchQuery[] {
  const path = '/admin/products'
  const [common, rare] = [vocabulary[0] ?? '', vocabulary.at(-1) ?? '']
  const productQuery = (name: string, query: string) => ({
    name: `GET ${path}${name}`,
    owner,
    path: () => `${path}${query}`,
  })
  return [
    { hasTarget, ...productQuery('', '') },
    productQuery(', by category', '?category_id=category-7'),
    productQuery(', active ones of a type', '?is_active=true&product_type=digital'),
    productQuery(' orderBy=name', '?orderBy=name&orderDir=asc'),
    productQuery(', page 1,000', '?page=1000'),
    productQuery(', by name, last page', `?orderBy=name&offset=${products - 20}`),
    productQuery(', by name, by cursor near the end', `?orderBy=name&orderDir=asc&cursor=${lateCursor()}`),
    productQuery(', rare word', `?search=${encodeURIComponent(rare)}`),
    productQuery(', common word', `?search=${encodeURIComponent(common)}`),
    productQuery(', two letters', '?search=qu'),
    { hasTarget, name: `GET ${path}/{id}`, owner, thing: 'product', path: (id) => `${path}/${id}` },
  ]
}

/** After the last of the frequent words, with which many names begin. */
function lateCursor(): string {
  const list = listIdentity(productList, { orderBy: 'name', orderDir: 'asc' })
  const position = { value: vocabulary.slice(0, 100).toSorted().at(-1) ?? '', id: idOf('product', 1) }
  return encodeCursor(list, position) ?? ''
}

/** The owner and URL of the query for one row. */
export function subjectOf(row: number, { owner, thing, path }: BenchQuery, spread: Spread) {
  return { owner: owner ?? ownerOfRow(row, spread), path: path(thing === undefined ? '' : idOf(thing, row)) }
}
