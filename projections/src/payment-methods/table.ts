// The tables of payment methods: one for each version, and what queries see of the live one.
import type { TableSql } from '../projection.ts'

// A method that was removed keeps its row: payments show a summary of it, and its choice still outranks older ones.
const create = (table: string) => `
  create table ${table} (
    id uuid primary key,
    revision bigint not null,
    -- 'user:<id>' or 'guest:<e-mail>'.
    owner text,
    user_id text,
    guest_email text,
    provider_id text not null,
    provider_customer_id text,
    payment_type text,
    wallet_type text,
    card_brand text,
    last_four text,
    expiry_month text,
    expiry_year text,
    type text,
    alias text,
    organization_id text,
    billing_address_id text,
    -- Only ever returned as a whole, so its text is kept as it came.
    billing_details json,
    is_default boolean not null,
    default_choice bigint,
    is_removed boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Lists and their totals never show what was removed, so that rows of the past cost them nothing.
  create index ${table}_by_owner on ${table} (owner, created_at desc, id desc) where not is_removed;

  -- Whether a later choice than a row's own exists is asked for each row that says it is the default. Most rows were never
  -- chosen, and are not in here; who scrolled through an owner's rows instead would read all of them for every such row.
  create index ${table}_by_choice on ${table} (owner, default_choice) where default_choice is not null;`

const view = (table: string) => `
  select
    id,
    revision,
    owner,
    guest_email,
    provider_id,
    provider_customer_id,
    payment_type,
    wallet_type,
    card_brand,
    last_four,
    expiry_month,
    expiry_year,
    type,
    alias,
    organization_id,
    billing_address_id,
    billing_details,
    -- Two rows may say so for a moment, or for longer if a process died between two appends: the last choice counts.
    is_default and not is_removed and not exists (
      select from ${table} as other
      where other.owner = method.owner and other.default_choice > method.default_choice
    ) as is_default,
    is_removed,
    created_at,
    updated_at
  from ${table} as method`

export const paymentMethodsTable: TableSql = { create, indexes, view }
