// The list of products. They have no owner: the caller must be an administrator.
import { ProductType } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import { sql } from 'kysely'
import { ExactText, Flag, isContained, SearchText } from '../lists/filters.ts'
import { filter, type List } from '../lists/lists.ts'

export const productList: List<typeof ProductResource> = {
  view: 'products',
  item: ProductResource,
  filters: {
    category_id: filter(ExactText, 'Only products of this category', (category) => sql`category_id = ${category}`),
    product_type: filter(ProductType, 'Only products of this type', (type) => sql`product_type = ${type}`),
    is_recurring: filter(Flag, 'Only products that are, or are not, recurring', (flag) => sql`is_recurring = ${flag}`),
    is_active: filter(Flag, 'Only products that are, or are not, active', (flag) => sql`is_active = ${flag}`),
    search: filter(SearchText, 'Text contained in the name or the description, case-insensitive', isContained),
  },
  orders: {
    // Without case.
    name: { column: 'folded_name', holds: 'text' },
    subtotal_cents: { column: 'subtotal_cents', holds: 'integer' },
    created_at: { column: 'created_at', holds: 'time' },
    updated_at: { column: 'updated_at', holds: 'time' },
  },
}
