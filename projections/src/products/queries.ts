// Queries for products.
import type { ProductType } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import {
  type Found,
  type ListOrder,
  type ListPage,
  type OffsetParameters,
  ordered,
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

type Values = OffsetParameters & {
  readonly category_id?: string | undefined
  readonly product_type?: ProductType | undefined
  readonly is_recurring?: boolean | undefined
  readonly is_active?: boolean | undefined
  /** Text contained in name or description, case-insensitive. */
  readonly search?: string | undefined
}

export type ProductsQuery = Values & ListOrder<ProductOrder>

const productsPage = prepareQuery(
  (parameters: QueryParameters<Values>, { orderBy, orderDir }: ListOrder<ProductOrder>) => {
    const order = { orderBy: orderBy === 'name' ? 'folded_name' : orderBy, orderDir } as const
    const matching = matchingProducts(parameters)
    // Finds the ids first, from an index alone, without reading the rows that are skipped.
    const ids = ordered(matching.select('id'), order).limit(parameters.limit).offset(parameters.offset)
    const paged = views.selectFrom('products').select(shown).select('folded_name').where('id', 'in', ids)
    return withTotal(matching, paged, order)
  },
  { customPlan: true },
)

export async function listProducts(
  db: Queryable,
  { orderBy, orderDir, ...values }: ProductsQuery,
): Promise<ListPage<ProductResource>> {
  return toListPage(await productsPage(db, values, { orderBy, orderDir }), productOf)
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

function matchingProducts({ category_id, product_type, is_recurring, is_active, search }: QueryParameters<Values>) {
  let query = views.selectFrom('products')
  if (category_id !== undefined) query = query.where('category_id', '=', category_id)
  if (product_type !== undefined) query = query.where('product_type', '=', product_type)
  if (is_recurring !== undefined) query = query.where('is_recurring', '=', is_recurring)
  if (is_active !== undefined) query = query.where('is_active', '=', is_active)
  if (search !== undefined) query = query.where('search_text', 'like', search.through(containsPattern))
  return query
}
