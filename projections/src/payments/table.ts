// The tables of payments: one for each version, and what queries see of the live one.
import type { TableSql } from '../projection.ts'

// Most payments are changed a few times after they appear: room on the page lets those updates leave the indexes alone.
const create = (table: string) => `
  create table ${table} (
    id uuid primary key,
    revision bigint not null,
    -- 'user:<id>' or 'guest:<e-mail>'; null for a payment that nobody can come back to.
    owner text,
    -- Lower-case id, e-mails and description, separated by U+001F, which no search term may contain.
    search_text text not null,
    subtotal_cents bigint not null,
    tax_cents bigint not null,
    discount_cents bigint not null,
    total_cents bigint not null,
    currency text not null,
    status text not null,
    description text,
    concept text,
    reference_code text,
    category text,
    tags text,
    provider_id text not null,
    provider_payment_id text,
    provider_intent_id text,
    client_secret text,
    payment_method_id text,
    is_guest_payment boolean not null,
    guest_email text,
    -- Only ever returned as a whole, so its text is kept as it came.
    metadata json not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    completed_at timestamptz
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Every question is about one owner, so a search reads that owner's payments only. A trigram index over search_text was
  -- tried and left out: projecting took three times as long, and a short pattern read the whole index instead of one owner.
  create index ${table}_by_owner on ${table} (owner, created_at desc, id desc);`

const view = (table: string) => `
  select
    id,
    revision,
    owner,
    search_text,
    subtotal_cents,
    tax_cents,
    discount_cents,
    total_cents,
    total_cents as amount_cents,
    currency,
    status,
    description,
    concept,
    reference_code,
    category,
    tags,
    provider_id,
    provider_payment_id,
    provider_intent_id,
    client_secret,
    payment_method_id,
    is_guest_payment,
    guest_email,
    metadata,
    created_at,
    updated_at,
    completed_at
  from ${table}`

export const paymentsTable: TableSql = { create, indexes, view }
