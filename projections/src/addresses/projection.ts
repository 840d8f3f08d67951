// The projection of addresses: the columns of its table, and what each event changes.

import { recordedOwner } from '@paylog/domain/actor'
import {
  type AddressAdded,
  type AddressType,
  addressEvents,
  contactFields,
  placeFields,
} from '@paylog/domain/addresses/events'
import { fieldsOf } from '@paylog/domain/fields'
import { boolean, latest, nullable, personal, type RowOf, text, textOf, time } from '../columns.ts'
import { defineProjection } from '../projection.ts'

const changingText = latest(personal(nullable(text)))

const columns = {
  // 'user:<id>' or 'guest:<e-mail>'.
  owner: personal(nullable(text)),
  user_id: nullable(text),
  guest_email: personal(nullable(text)),
  address_type: latest(textOf<AddressType>()),
  ...fieldsOf(placeFields, () => changingText),
  is_partial: latest(boolean),
  is_business: latest(boolean),
  ...fieldsOf(contactFields, () => changingText),
  guest_name: changingText,
  is_removed: latest(boolean),
  created_at: time,
  updated_at: latest(time),
}

type AddressRow = RowOf<typeof columns>

export const addresses = defineProjection({
  name: 'addresses',
  schemaVersion: 2,
  streamPrefix: 'address-',
  columns,
  // Lists and totals never show removed rows, so the index leaves them out. The type is not in the index: it would not
  // serve the list of all types in order, and skipping an owner's rows of the other type is fast.
  indexes: (table) => `create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc)
    where not is_removed`,
  idOf: ({ data }) => data.address_id,
  events: addressEvents,
  opens: { AddressAdded: ['personal'], AddressChanged: ['personal'] },
  on: {
    AddressAdded: (event) => ({ insert: added(event) }),
    AddressChanged: ({ data }) => ({ patch: { ...data.changes, updated_at: data.occurred_at } }),
    AddressRemoved: ({ data }) => ({ patch: { is_removed: true, updated_at: data.occurred_at } }),
  },
})

const added = ({ data }: AddressAdded): AddressRow => ({
  ...data,
  owner: recordedOwner(data),
  is_removed: false,
  created_at: data.occurred_at,
  updated_at: data.occurred_at,
})
