// From a row of the view `products` to the product that administrators see, field by field: what is not named here cannot
// leave the service.
import { productContentOf } from '@paylog/domain/products/events'
import type { ProductResource } from '@paylog/domain/products/resource'
import { queryBuilder } from '../queries/composer.ts'
import type { ProductRow } from './projection.ts'

/** A row of the view `products`. */
export type ProductRecord = Omit<ProductRow, 'folded_description'> & {
  readonly id: string
  readonly revision: number
  /** Name and description in lower case, with U+001F between them. */
  readonly search_text: string
}

export const views = queryBuilder<{ readonly products: ProductRecord }>('read_models')

/** What a list reads of each product; a single one needs its revision too, for the ETag. */
export const productColumns = [
  'id',
  'name',
  'description',
  'product_type',
  'is_recurring',
  'subtotal_cents',
  'tax_cents',
  'discount_cents',
  'total_cents',
  'currency',
  'billing_interval',
  'trial_days',
  'category_id',
  'is_active',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ProductRecord)[]

export function productOf(record: Pick<ProductRecord, (typeof productColumns)[number]>): ProductResource {
  return {
    id: record.id,
    ...productContentOf(record),
    is_active: record.is_active,
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}
