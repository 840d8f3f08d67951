// The projection of products: its tables and views, and what each event changes.

import {
  type ProductAdded,
  type ProductContent,
  type ProductEvent,
  productContentOf,
  productEvents,
} from '@paylog/domain/products/events'
import { defineProjection, latest, type TableSql } from '../projection.ts'
import { foldCase } from '../queries/textFilters.ts'

// Every sync raises a product's revision twice: free space in the pages allows updates without index writes.
const create = (table: string) => `
  create table ${table} (
    id uuid primary key,
    revision bigint not null,
    name text not null,
    description text,
    product_type text not null,
    is_recurring boolean not null,
    subtotal_cents bigint not null,
    tax_cents bigint not null,
    discount_cents bigint not null,
    total_cents bigint not null,
    currency text not null,
    billing_interval text,
    trial_days bigint,
    category_id text,
    is_active boolean not null,
    -- In lower case, for search and for the order by name. Collation "C" orders by code point: it is the same on every
    -- machine, and the update of a library cannot corrupt an index.
    folded_name text collate "C" not null,
    folded_description text collate "C",
    created_at timestamptz not null,
    updated_at timestamptz not null
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Lists have no owner, so each order has an index. It includes all filter columns except the search text, so that
  -- rows that are filtered out or skipped, up to the last page, are counted in the index and never read.
  create index if not exists ${table}_by_creation on ${table} (created_at, id)
  include (category_id, product_type, is_recurring, is_active);
  create index if not exists ${table}_by_update on ${table} (updated_at, id)
  include (category_id, product_type, is_recurring, is_active);
  create index if not exists ${table}_by_name on ${table} (folded_name, id)
  include (category_id, product_type, is_recurring, is_active);
  create index if not exists ${table}_by_subtotal on ${table} (subtotal_cents, id)
  include (category_id, product_type, is_recurring, is_active);

  -- For the totals: each combination is stored once, so that a hundred thousand products take a megabyte.
  create index if not exists ${table}_by_filters on ${table} (category_id, product_type, is_recurring, is_active);

  -- U+001F separates the texts, and no search may contain it. Searches scan all pending entries of the index, so their
  -- list must stay small. The operator class is looked up in the schema of the extension.
  do $$
  begin
    execute format(
      $index$
        create index if not exists ${table}_by_text on ${table}
        using gin ((folded_name || e'\\x1f' || coalesce(folded_description, '')) %I.gin_trgm_ops)
        with (gin_pending_list_limit = 512)
      $index$,
      (select nspname from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm')
    );
  end
  $$;`

const view = (table: string) => `
  select
    id,
    revision,
    name,
    description,
    product_type,
    is_recurring,
    subtotal_cents,
    tax_cents,
    discount_cents,
    total_cents,
    currency,
    billing_interval,
    trial_days,
    category_id,
    is_active,
    folded_name,
    -- The expression of the index.
    folded_name || e'\\x1f' || coalesce(folded_description, '') as search_text,
    created_at,
    updated_at
  from ${table}`

const productsTable: TableSql = { create, indexes, view }

export type ProductRow = ProductContent & {
  readonly is_active: boolean
  /** In lower case; the order by name uses it. */
  readonly folded_name: string
  readonly folded_description: string | null
  readonly created_at: string
  readonly updated_at: string
}

export const products = defineProjection<ProductEvent, ProductRow>({
  name: 'products',
  schemaVersion: 1,
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
  // A sync changes no column, but every event raises the revision.
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

/** Folds the texts that changed; the other stays unknown. */
function folded({ name, description }: Partial<ProductContent>): Partial<ProductRow> {
  return {
    ...(name !== undefined && { folded_name: foldCase(name) }),
    ...(description !== undefined && { folded_description: description && foldCase(description) }),
  }
}
