import type { ProductsQuery } from '../../api/apiTypes.ts'
import { oneOf, textsOf } from '../../search.ts'

export const productTypes = ['physical', 'digital', 'service', 'subscription'] as const
const flags = ['true', 'false'] as const
const names = [
  'search',
  'product_type',
  'category_id',
  'is_recurring',
  'is_active',
  'orderBy',
  'orderDir',
  'cursor',
] as const

/** The filters of the catalogue in the URL. */
export const productsSearch = (search: Record<string, unknown>) => textsOf(search, names)
export type ProductsSearch = ReturnType<typeof productsSearch>

/** Unknown words are left out. */
export const productsQuery = (search: ProductsSearch): ProductsQuery => ({
  ...textsOf(search, ['search', 'category_id', 'cursor']),
  product_type: oneOf(productTypes, search.product_type),
  is_recurring: oneOf(flags, search.is_recurring),
  is_active: oneOf(flags, search.is_active),
  orderBy: oneOf(['name', 'subtotal_cents', 'created_at', 'updated_at'], search.orderBy),
  orderDir: oneOf(['asc', 'desc'], search.orderDir),
  limit: 25,
})
