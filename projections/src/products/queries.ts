// Queries for products.
import type { ProductType } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import type { PagePosition } from '@paylog/runtime/http/cursor'
import {
  afterPosition,
  type Found,
  type ListOrder,
  type ListPage,
  type NextPage,
  type OffsetParameters,
  ordered,
  type PositionParameters,
  toListPage,
  withTotal,
} from '../queries/listPage.ts'
import { prepareQuery, type Queryable, type QueryParameters, queryBuilder } from '../queries/namedQuery.ts'
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { containsPattern } from '../queries/textFilters.ts'
import { type ProductRecord, productColumns } from './projection.ts'

const views = queryBuilder<{ readonly products: ProductRecord }>('read_models')

/** The columns of a list. A single product also has its revision, for the ETag. */
const shown = shownColumns(ProductResource, productColumns)
const productOf = resourceOf(ProductResource)

/** Products have no owner: the caller must be an administrator. */
export type ProductOrder = 'name' | 'subtotal_cents' | 'created_at' | 'updated_at'

type Filters = {
  readonly category_id?: string | undefined
  readonly product_type?: ProductType | undefined
  readonly is_recurring?: boolean | undefined
  readonly is_active?: boolean | undefined
  /** Text contained in name or description, case-insensitive. */
  readonly search?: string | undefined
}

export type ProductsQuery = Filters & OffsetParameters & ListOrder<ProductOrder>
export type ProductsAfterQuery = Filters & {
  readonly limit: number
  readonly after: PagePosition
} & ListOrder<ProductOrder>

/** Names are ordered without case. */
const orderColumns = {
  name: 'folded_name',
  subtotal_cents: 'subtotal_cents',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const satisfies Readonly<Record<ProductOrder, keyof ProductRecord>>

const selected = () => views.selectFrom('products').select(shown).select('folded_name')

const productsPage = prepareQuery(
  (parameters: QueryParameters<Filters & OffsetParameters>, { orderBy, orderDir }: ListOrder<ProductOrder>) => {
    const order = { orderBy: orderColumns[orderBy], orderDir }
    const matching = matchingProducts(parameters)
    // Finds the ids first, from an index alone, without reading the rows that are skipped.
    const ids = ordered(matching.select('id'), order).limit(parameters.limit).offset(parameters.offset)
    return withTotal(matching, selected().where('id', 'in', ids), order)
  },
  { customPlan: true },
)

const productsAfter = prepareQuery(
  (parameters: QueryParameters<Filters & PositionParameters>, { orderBy, orderDir }: ListOrder<ProductOrder>) => {
    const order = { orderBy: orderColumns[orderBy], orderDir }
    const matching = afterPosition(matchingProducts(parameters).select('id'), parameters, order)
    return ordered(selected().where('id', 'in', ordered(matching, order).limit(parameters.limit)), order)
  },
  { customPlan: true },
)

/** @returns the page, the total, and where the next page begins */
export async function listProducts(
  db: Queryable,
  { orderBy, orderDir, ...values }: ProductsQuery,
): Promise<ListPage<ProductResource> & NextPage<ProductResource>> {
  const rows = await productsPage(db, values, { orderBy, orderDir })
  const page = toListPage(rows, productOf)
  const hasNext = values.offset + page.items.length < page.total
  return { ...page, next: hasNext ? positionOf(rows.at(-1), orderBy) : null }
}

/** The products after a position of `listProducts` or of this function, with the same order and filters. */
export async function listProductsAfter(
  db: Queryable,
  { orderBy, orderDir, after, limit, ...filters }: ProductsAfterQuery,
): Promise<NextPage<ProductResource>> {
  const values = { ...filters, after_value: after.value, after_id: after.id, limit: limit + 1 }
  const rows = await productsAfter(db, values, { orderBy, orderDir })
  const page = rows.slice(0, limit)
  return { items: page.map(productOf), next: rows.length > limit ? positionOf(page.at(-1), orderBy) : null }
}

function positionOf(
  row: { readonly id: null } | Pick<ProductRecord, 'id' | (typeof orderColumns)[ProductOrder]> | undefined,
  orderBy: ProductOrder,
): PagePosition | null {
  return row === undefined || row.id === null ? null : { value: row[orderColumns[orderBy]], id: row.id }
}

const productById = prepareQuery(({ id }: QueryParameters<{ readonly id: string }>) =>
  views.selectFrom('products').select(shown).select('revision').where('id', '=', id),
)

/** @returns `undefined` if there is no such product */
export async function getProduct(
  db: Queryable,
  query: { readonly id: string },
): Promise<Found<ProductResource> | undefined> {
  const [record] = await productById(db, query, {})
  return record && { item: productOf(record), revision: BigInt(record.revision) }
}

function matchingProducts({ category_id, product_type, is_recurring, is_active, search }: QueryParameters<Filters>) {
  let query = views.selectFrom('products')
  if (category_id !== undefined) query = query.where('category_id', '=', category_id)
  if (product_type !== undefined) query = query.where('product_type', '=', product_type)
  if (is_recurring !== undefined) query = query.where('is_recurring', '=', is_recurring)
  if (is_active !== undefined) query = query.where('is_active', '=', is_active)
  if (search !== undefined) query = query.where('search_text', 'like', search.through(containsPattern))
  return query
}
