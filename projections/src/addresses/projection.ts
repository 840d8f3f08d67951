// Addresses as rows: what each event of an address changes.
import {
  type AddressAdded,
  type AddressContent,
  type AddressEvent,
  addressEvents,
  addressContentOf,
} from '@paylog/domain/addresses/events'
import { recordedOwner } from '@paylog/domain/owner'
import { defineProjection, latest } from '../projection.ts'
import { addressesTable } from './table.ts'

export type AddressRow = AddressContent & {
  readonly owner: string | null
  readonly user_id: string | null
  readonly guest_email: string | null
  readonly is_default: boolean
  readonly default_choice: number | null
  readonly is_removed: boolean
  readonly created_at: string
  readonly updated_at: string
}

export const addresses = defineProjection<AddressEvent, AddressRow>({
  name: 'addresses',
  definition: 1,
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
    is_default: { type: 'boolean', merge: latest },
    default_choice: { type: 'bigint', merge: latest },
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
        // The choices of one type are numbered for themselves: among those of the other type its number means nothing.
        ...(data.changes.address_type !== undefined && { is_default: false, default_choice: null }),
        updated_at: data.occurred_at,
      },
    }),
    AddressMadeDefault: ({ data }) => ({
      patch: { is_default: true, default_choice: data.default_choice, updated_at: data.occurred_at },
    }),
    AddressDefaultCleared: ({ data }) => ({ patch: { is_default: false, updated_at: data.occurred_at } }),
    AddressRemoved: ({ data }) => ({ patch: { is_removed: true, is_default: false, updated_at: data.occurred_at } }),
  },
})

function added({ data }: AddressAdded): AddressRow {
  return {
    owner: recordedOwner(data),
    user_id: data.user_id,
    guest_email: data.guest_email,
    ...addressContentOf(data),
    is_default: data.default_choice !== null,
    default_choice: data.default_choice,
    is_removed: false,
    created_at: data.occurred_at,
    updated_at: data.occurred_at,
  }
}
