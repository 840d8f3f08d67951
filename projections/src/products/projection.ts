// Products as rows: what each event of a product changes.
import {
  productContentOf,
  type ProductAdded,
  type ProductContent,
  type ProductEvent,
  productEvents,
} from '@paylog/domain/products/events'
import { defineProjection, latest } from '../projection.ts'
import { foldCase } from '../queries/foldCase.ts'
import { productsTable } from './table.ts'

export type ProductRow = ProductContent & {
  readonly is_active: boolean
  /** In lower case: names are in the order of these. */
  readonly folded_name: string
  readonly folded_description: string | null
  readonly created_at: string
  readonly updated_at: string
}

export const products = defineProjection<ProductEvent, ProductRow>({
  name: 'products',
  definition: 1,
  streamPrefixes: ['product-'],
  table: productsTable,
  columns: {
    name: { type: 'text', merge: latest },
    description: { type: 'text', merge: latest },
    product_type: { type: 'text', merge: latest },
    is_recurring: { type: 'boolean', merge: latest },
    subtotal_cents: { type: 'bigint', merge: latest },
    tax_cents: { type: 'bigint', merge: latest },
    discount_cents: { type: 'bigint', merge: latest },
    total_cents: { type: 'bigint', merge: latest },
    currency: { type: 'text', merge: latest },
    billing_interval: { type: 'text', merge: latest },
    trial_days: { type: 'bigint', merge: latest },
    category_id: { type: 'text', merge: latest },
    is_active: { type: 'boolean', merge: latest },
    folded_name: { type: 'text', merge: latest },
    folded_description: { type: 'text', merge: latest },
    created_at: { type: 'timestamptz' },
    updated_at: { type: 'timestamptz', merge: latest },
  },
  idOf: ({ data }) => data.product_id,
  // A sync changes nothing that a product shows, but every event raises the revision.
  events: productEvents,
  on: {
    ProductAdded: (event) => ({ insert: added(event) }),
    ProductChanged: ({ data: { changes, occurred_at } }) => ({
      patch: { ...changes, ...folded(changes), updated_at: occurred_at },
    }),
    ProductDeactivated: ({ data }) => ({ patch: { is_active: false, updated_at: data.occurred_at } }),
    ProductReactivated: ({ data }) => ({ patch: { is_active: true, updated_at: data.occurred_at } }),
  },
})

function added({ data }: ProductAdded): ProductRow {
  return {
    ...productContentOf(data),
    is_active: data.is_active,
    folded_name: foldCase(data.name),
    folded_description: data.description && foldCase(data.description),
    created_at: data.occurred_at,
    updated_at: data.occurred_at,
  }
}

/** Of a change of only one of the two, nothing is known about the other. */
function folded({ name, description }: Partial<ProductContent>): Partial<ProductRow> {
  return {
    ...(name !== undefined && { folded_name: foldCase(name) }),
    ...(description !== undefined && { folded_description: description && foldCase(description) }),
  }
}
