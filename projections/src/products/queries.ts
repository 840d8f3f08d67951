// The questions about products. They have no owner: whoever asks has been found to be an administrator.
import type { ProductType } from '@paylog/domain/products/events'
import type { ProductResource } from '@paylog/domain/products/resource'
import { containing } from '../queries/foldCase.ts'
import { type Asked, prepare, type Queryable } from '../queries/namedQuery.ts'
import { type Found, inOrder, type Order, type Page, readPage, type Slice, withTotal } from '../queries/page.ts'
import { productColumns, productOf, views } from './views.ts'

export type ProductOrder = 'name' | 'subtotal_cents' | 'created_at' | 'updated_at'

type Values = Slice & {
  readonly category_id?: string | undefined
  readonly product_type?: ProductType | undefined
  readonly is_recurring?: boolean | undefined
  readonly is_active?: boolean | undefined
  /** Part of the name or the description, in any case. */
  readonly search?: string | undefined
}

export type ProductsQuestion = Values & Order<ProductOrder>

const sliceOfProducts = prepare(
  (asked: Asked<Values>, { orderBy, orderDir }: Order<ProductOrder>) => {
    const order = { orderBy: orderBy === 'name' ? 'folded_name' : orderBy, orderDir } as const
    const matching = matchingProducts(asked)
    // The ids first: an index alone tells them, and nothing else is read of the rows that are skipped.
    const ids = inOrder(matching.select('id'), order).limit(asked.limit).offset(asked.offset)
    const paged = views.selectFrom('products').select(productColumns).select('folded_name').where('id', 'in', ids)
    return withTotal(matching, paged, order)
  },
  { plannedAnew: true },
)

export async function listProducts(
  db: Queryable,
  { orderBy, orderDir, ...values }: ProductsQuestion,
): Promise<Page<ProductResource>> {
  return readPage(await sliceOfProducts(db, values, { orderBy, orderDir }), productOf)
}

const oneProduct = prepare(({ id }: Asked<{ readonly id: string }>) =>
  views.selectFrom('products').select(productColumns).select('revision').where('id', '=', id),
)

/** Nothing when there is none. */
export async function getProduct(
  db: Queryable,
  question: { readonly id: string },
): Promise<Found<ProductResource> | undefined> {
  const [record] = await oneProduct(db, question, {})
  return record && { item: productOf(record), revision: BigInt(record.revision) }
}

function matchingProducts({ category_id, product_type, is_recurring, is_active, search }: Asked<Values>) {
  let query = views.selectFrom('products')
  if (category_id !== undefined) query = query.where('category_id', '=', category_id)
  if (product_type !== undefined) query = query.where('product_type', '=', product_type)
  if (is_recurring !== undefined) query = query.where('is_recurring', '=', is_recurring)
  if (is_active !== undefined) query = query.where('is_active', '=', is_active)
  if (search !== undefined) query = query.where('search_text', 'like', search.through(containing))
  return query
}
