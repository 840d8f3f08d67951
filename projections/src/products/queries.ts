// The questions about products. They have no owner: whoever asks has been found to be an administrator.
import type { ProductType } from '@paylog/domain/products/events'
import type { ProductResource } from '@paylog/domain/products/resource'
import { containsPattern } from '../queries/foldCase.ts'
import { type QueryParameters, prepareQuery, type Queryable } from '../queries/namedQuery.ts'
import {
  type Found,
  ordered,
  type ListOrder,
  type ListPage,
  toListPage,
  type OffsetParameters,
  withTotal,
} from '../queries/page.ts'
import { productColumns, productOf, views } from './views.ts'

export type ProductOrder = 'name' | 'subtotal_cents' | 'created_at' | 'updated_at'

type Values = OffsetParameters & {
  readonly category_id?: string | undefined
  readonly product_type?: ProductType | undefined
  readonly is_recurring?: boolean | undefined
  readonly is_active?: boolean | undefined
  /** Part of the name or the description, in any case. */
  readonly search?: string | undefined
}

export type ProductsQuery = Values & ListOrder<ProductOrder>

const productsPage = prepareQuery(
  (parameters: QueryParameters<Values>, { orderBy, orderDir }: ListOrder<ProductOrder>) => {
    const order = { orderBy: orderBy === 'name' ? 'folded_name' : orderBy, orderDir } as const
    const matching = matchingProducts(parameters)
    // The ids first: an index alone tells them, and nothing else is read of the rows that are skipped.
    const ids = ordered(matching.select('id'), order).limit(parameters.limit).offset(parameters.offset)
    const paged = views.selectFrom('products').select(productColumns).select('folded_name').where('id', 'in', ids)
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
  views.selectFrom('products').select(productColumns).select('revision').where('id', '=', id),
)

/** Nothing when there is none. */
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
