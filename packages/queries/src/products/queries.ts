// The list of products. They have no owner: the caller must be an administrator.
import { ProductType } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import { defineList } from '../lists/defineList.ts'
import { ExactText, filter, flag, searchFilter } from '../lists/filters.ts'

export const productList = defineList('products', {
  item: ProductResource,
  computed: () => ({}),
  filters: {
    category_id: filter(ExactText, 'Only products of this category', 'category_id'),
    product_type: filter(ProductType, 'Only products of this type', 'product_type'),
    is_recurring: flag('Only products that are, or are not, recurring', (item) => item.ref('is_recurring')),
    is_active: flag('Only products that are, or are not, active', (item) => item.ref('is_active')),
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
