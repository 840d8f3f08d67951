// The list of products. They have no owner: the caller must be an administrator.
import { ProductType } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import { defineList, filter } from '../lists/defineList.ts'
import { ExactText, Flag, isSet, searchFilter } from '../lists/filters.ts'

export const productList = defineList('products', {
  item: ProductResource,
  filters: {
    category_id: filter(ExactText, 'Only products of this category', (item, id) => item('category_id', '=', id)),
    product_type: filter(ProductType, 'Only products of this type', (item, type) => item('product_type', '=', type)),
    is_recurring: filter(Flag, 'Only products that are, or are not, recurring', (item, flag) =>
      item('is_recurring', '=', flag.as(isSet)),
    ),
    is_active: filter(Flag, 'Only products that are, or are not, active', (item, flag) =>
      item('is_active', '=', flag.as(isSet)),
    ),
    search: searchFilter('Text contained in the name or the description, case-insensitive'),
  },
  orders: {
    // Without case.
    name: { column: 'folded_name', holds: 'text' },
    subtotal_cents: { column: 'subtotal_cents', holds: 'integer' },
    created_at: { column: 'created_at', holds: 'time' },
    updated_at: { column: 'updated_at', holds: 'time' },
  },
})
