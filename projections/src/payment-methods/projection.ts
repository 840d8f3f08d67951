// The projection of payment methods: its tables and views, and what each event changes.

import { recordedOwner } from '@paylog/domain/actor'
import {
  type BillingDetails,
  type MethodDetails,
  type PaymentMethodAdded,
  type PaymentMethodEvent,
  paymentMethodEvents,
} from '@paylog/domain/payment-methods/events'
import { detailsOf } from '@paylog/domain/payment-methods/paymentMethod'
import { defineProjection, latest, type TableSql } from '../projection.ts'

// A removed method keeps its row: payments show its summary.
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
    -- Only returned as a whole, so its text is stored unchanged.
    billing_details json,
    is_removed boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Lists and totals never show removed rows, so the index leaves them out.
  create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc) where not is_removed;`

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
    is_removed,
    created_at,
    updated_at
  from ${table}`

const paymentMethodsTable: TableSql = { create, indexes, view }

export type PaymentMethodRow = MethodDetails & {
  readonly owner: string | null
  readonly user_id: string | null
  readonly guest_email: string | null
  readonly provider_id: string
  readonly provider_customer_id: string | null
  readonly type: string | null
  readonly alias: string | null
  readonly organization_id: string | null
  readonly billing_address_id: string | null
  readonly billing_details: BillingDetails | null
  readonly is_removed: boolean
  readonly created_at: string
  readonly updated_at: string
}

export const paymentMethods = defineProjection<PaymentMethodEvent, PaymentMethodRow>({
  name: 'payment_methods',
  schemaVersion: 1,
  streamPrefixes: ['paymentMethod-'],
  table: paymentMethodsTable,
  columns: {
    owner: { type: 'text' },
    user_id: { type: 'text' },
    guest_email: { type: 'text' },
    provider_id: { type: 'text' },
    provider_customer_id: { type: 'text' },
    payment_type: { type: 'text', merge: latest },
    wallet_type: { type: 'text', merge: latest },
    card_brand: { type: 'text', merge: latest },
    last_four: { type: 'text', merge: latest },
    expiry_month: { type: 'text', merge: latest },
    expiry_year: { type: 'text', merge: latest },
    type: { type: 'text' },
    alias: { type: 'text', merge: latest },
    organization_id: { type: 'text' },
    billing_address_id: { type: 'text' },
    billing_details: { type: 'json' },
    is_removed: { type: 'boolean', merge: latest },
    created_at: { type: 'timestamptz' },
    updated_at: { type: 'timestamptz', merge: latest },
  },
  idOf: ({ data }) => data.payment_method_id,
  events: paymentMethodEvents,
  on: {
    // Saving a removed method again replaces its old row.
    PaymentMethodAdded: (event) => ({ insert: added(event) }),
    PaymentMethodAliasChanged: ({ data }) => ({ patch: { alias: data.alias, updated_at: data.occurred_at } }),
    PaymentMethodRefreshed: ({ data }) => ({ patch: { ...detailsOf(data), updated_at: data.occurred_at } }),
    PaymentMethodRemoved: ({ data }) => ({
      patch: { is_removed: true, updated_at: data.occurred_at },
    }),
  },
})

function added({ data }: PaymentMethodAdded): PaymentMethodRow {
  return {
    owner: recordedOwner(data),
    user_id: data.user_id,
    guest_email: data.guest_email,
    provider_id: data.provider_id,
    provider_customer_id: data.provider_customer_id,
    ...detailsOf(data),
    type: data.type,
    alias: data.alias,
    organization_id: data.organization_id,
    billing_address_id: data.billing_address_id,
    billing_details: data.billing_details,
    is_removed: false,
    created_at: data.occurred_at,
    updated_at: data.occurred_at,
  }
}
