// The filters of the catalogue.
import { choicesOf } from '../../parts/fields.tsx'
import { type Filter, flag } from '../../parts/filters/filterTypes.ts'
import { type ProductsSearch, productTypes } from './productsSearch.ts'

export const productFilters: readonly Filter<keyof ProductsSearch>[] = [
  { kind: 'choice', label: 'Type', names: ['product_type'], choices: choicesOf(productTypes) },
  { kind: 'text', label: 'Category', names: ['category_id'], hint: 'The whole category' },
  flag('Recurring', 'is_recurring'),
  flag('Active', 'is_active'),
]

export const productOrders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
  { value: 'name asc', label: 'By name' },
  { value: 'subtotal_cents desc', label: 'Highest price first' },
  { value: 'subtotal_cents asc', label: 'Lowest price first' },
]
