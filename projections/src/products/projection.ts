// The projection of products: the columns of its table, and what each event changes.

import {
  type BillingInterval,
  type ProductAdded,
  type ProductContent,
  type ProductType,
  productEvents,
} from '@paylog/domain/products/events'
import { bigint, boolean, computed, latest, nullable, type RowOf, text, textOf, time } from '../columns.ts'
import { defineProjection } from '../projection.ts'
import { foldCase } from '../searchText.ts'

const columns = {
  name: latest(text),
  description: latest(nullable(text)),
  product_type: latest(textOf<ProductType>()),
  is_recurring: latest(boolean),
  subtotal_cents: latest(bigint),
  tax_cents: latest(bigint),
  discount_cents: latest(bigint),
  total_cents: latest(bigint),
  currency: latest(text),
  billing_interval: latest(nullable(textOf<BillingInterval>())),
  trial_days: latest(nullable(bigint)),
  category_id: latest(nullable(text)),
  is_active: latest(boolean),
  // In lower case, for search and for the order by name. Collation "C" orders by code point: it is the same on every
  // machine, and the update of a library cannot corrupt an index.
  folded_name: { ...latest(text), collation: 'C' },
  folded_description: { ...latest(nullable(text)), collation: 'C' },
  created_at: time,
  updated_at: latest(time),
}

/** Name and description in lower case. U+001F separates them, and no search may contain it. */
const searchText = String.raw`folded_name || e'\x1f' || coalesce(folded_description, '')`
const computedColumns = { search_text: computed(text, searchText) }

type ProductRow = RowOf<typeof columns>

const filters = 'category_id, product_type, is_recurring, is_active'

const indexes = (table: string) => `
  -- Lists have no owner, so each order has an index. It includes all filter columns except the search text, so that
  -- rows that are filtered out or skipped, up to the last page, are counted in the index and never read.
  create index if not exists ${table}_by_creation on ${table} (created_at, id) include (${filters});
  create index if not exists ${table}_by_update on ${table} (updated_at, id) include (${filters});
  create index if not exists ${table}_by_name on ${table} (folded_name, id) include (${filters});
  create index if not exists ${table}_by_subtotal on ${table} (subtotal_cents, id) include (${filters});

  -- For the totals: each combination is stored once, so that a hundred thousand products take a megabyte.
  create index if not exists ${table}_by_filters on ${table} (${filters});

  -- Searches scan all pending entries of the index, so their list must stay small. The operator class is looked up in the
  -- schema of the extension.
  do $$
  begin
    execute format(
      $index$
        create index if not exists ${table}_by_text on ${table}
        using gin ((${searchText}) %I.gin_trgm_ops)
        with (gin_pending_list_limit = 512)
      $index$,
      (select nspname from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm')
    );
  end
  $$;`

export const products = defineProjection({
  name: 'products',
  schemaVersion: 2,
  streamPrefix: 'product-',
  columns,
  computed: computedColumns,
  indexes,
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

const added = ({ data }: ProductAdded): ProductRow => ({
  ...data,
  folded_name: foldCase(data.name),
  folded_description: data.description && foldCase(data.description),
  created_at: data.occurred_at,
  updated_at: data.occurred_at,
})

/** Folds the texts that changed; the other stays unknown. */
function folded({ name, description }: Partial<ProductContent>): Partial<ProductRow> {
  return {
    ...(name !== undefined && { folded_name: foldCase(name) }),
    ...(description !== undefined && { folded_description: description && foldCase(description) }),
  }
}
