// The projection of addresses: its tables and views, and what each event changes.

import { recordedOwner } from '@paylog/domain/actor'
import {
  type AddressAdded,
  type AddressContent,
  type AddressEvent,
  addressContentOf,
  addressEvents,
} from '@paylog/domain/addresses/events'
import { defineProjection, latest, type TableSql } from '../projection.ts'

const create = (table: string) => `
  create table ${table} (
    id uuid primary key,
    revision bigint not null,
    -- 'user:<id>' or 'guest:<e-mail>'.
    owner text,
    user_id text,
    guest_email text,
    address_type text not null,
    organization_id text,
    name text,
    line1 text,
    line2 text,
    city text,
    state text,
    postal_code text,
    country text,
    is_partial boolean not null,
    is_business boolean not null,
    business_name text,
    tax_id text,
    tax_id_type text,
    phone text,
    email text,
    alias text,
    guest_name text,
    is_removed boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Lists and totals never show removed rows, so the index leaves them out. The type is not in the index: it would not serve
  -- the list of all types in order, and skipping an owner's rows of the other type is fast.
  create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc) where not is_removed;`

const view = (table: string) => `
  select
    id,
    revision,
    owner,
    user_id,
    guest_email,
    address_type,
    organization_id,
    name,
    line1,
    line2,
    city,
    state,
    postal_code,
    country,
    is_partial,
    is_business,
    business_name,
    tax_id,
    tax_id_type,
    phone,
    email,
    alias,
    guest_name,
    is_removed,
    created_at,
    updated_at
  from ${table}`

const addressesTable: TableSql = { create, indexes, view }

export type AddressRow = AddressContent & {
  readonly owner: string | null
  readonly user_id: string | null
  readonly guest_email: string | null
  readonly is_removed: boolean
  readonly created_at: string
  readonly updated_at: string
}

export const addresses = defineProjection<AddressEvent, AddressRow>({
  name: 'addresses',
  schemaVersion: 1,
  streamPrefixes: ['address-'],
  table: addressesTable,
  columns: {
    owner: { type: 'text' },
    user_id: { type: 'text' },
    guest_email: { type: 'text' },
    address_type: { type: 'text', merge: latest },
    organization_id: { type: 'text', merge: latest },
    name: { type: 'text', merge: latest },
    line1: { type: 'text', merge: latest },
    line2: { type: 'text', merge: latest },
    city: { type: 'text', merge: latest },
    state: { type: 'text', merge: latest },
    postal_code: { type: 'text', merge: latest },
    country: { type: 'text', merge: latest },
    is_partial: { type: 'boolean', merge: latest },
    is_business: { type: 'boolean', merge: latest },
    business_name: { type: 'text', merge: latest },
    tax_id: { type: 'text', merge: latest },
    tax_id_type: { type: 'text', merge: latest },
    phone: { type: 'text', merge: latest },
    email: { type: 'text', merge: latest },
    alias: { type: 'text', merge: latest },
    guest_name: { type: 'text', merge: latest },
    is_removed: { type: 'boolean', merge: latest },
    created_at: { type: 'timestamptz' },
    updated_at: { type: 'timestamptz', merge: latest },
  },
  idOf: ({ data }) => data.address_id,
  events: addressEvents,
  on: {
    AddressAdded: (event) => ({ insert: added(event) }),
    AddressChanged: ({ data }) => ({
      patch: {
        ...data.changes,
        updated_at: data.occurred_at,
      },
    }),
    AddressRemoved: ({ data }) => ({ patch: { is_removed: true, updated_at: data.occurred_at } }),
  },
})

function added({ data }: AddressAdded): AddressRow {
  return {
    owner: recordedOwner(data),
    user_id: data.user_id,
    guest_email: data.guest_email,
    ...addressContentOf(data),
    is_removed: false,
    created_at: data.occurred_at,
    updated_at: data.occurred_at,
  }
}
