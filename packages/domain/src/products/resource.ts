// A product as administrators see it (interface, section 2.4).
import { type Static, Type } from 'typebox'
import { productContentOf, ProductContent } from './events.ts'
import type { Product } from './product.ts'

export const ProductResource = Type.Object({
  id: Type.String(),
  ...ProductContent.properties,
  is_active: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})
export type ProductResource = Static<typeof ProductResource>

/** The answer to an administrator, straight from the product's events. */
export function productResource(product: Product): ProductResource {
  const { product_id: id, is_active, created_at, updated_at } = product
  return { id, ...productContentOf(product), is_active, created_at, updated_at }
}
