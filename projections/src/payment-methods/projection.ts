// The projection of payment methods: the columns of its table, and what each event changes.

import { recordedOwner } from '@paylog/domain/actor'
import { mapFields } from '@paylog/domain/fields'
import {
  type BillingDetails,
  MethodDetails,
  type PaymentMethodAdded,
  paymentMethodEvents,
} from '@paylog/domain/payment-methods/events'
import { detailsOf } from '@paylog/domain/payment-methods/paymentMethod'
import { boolean, computed, jsonOf, latest, nullable, personal, type RowOf, text, time } from '../columns.ts'
import { defineProjection } from '../projection.ts'

// A removed method keeps its row: payments show its summary.
const columns = {
  // 'user:<id>' or 'guest:<e-mail>'.
  owner: personal(nullable(text)),
  user_id: nullable(text),
  guest_email: personal(nullable(text)),
  provider_id: text,
  provider_customer_id: nullable(text),
  ...mapFields(MethodDetails.properties, () => latest(personal(nullable(text)))),
  type: personal(nullable(text)),
  alias: latest(personal(nullable(text))),
  organization_id: personal(nullable(text)),
  billing_address_id: nullable(text),
  billing_details: personal(nullable(jsonOf<BillingDetails>())),
  is_removed: latest(boolean),
  created_at: time,
  updated_at: latest(time),
}

/** The names that clients see. */
const computedColumns = { customer_id: computed(nullable(text), 'provider_customer_id') }

type PaymentMethodRow = RowOf<typeof columns>

export const paymentMethods = defineProjection({
  name: 'payment_methods',
  schemaVersion: 2,
  streamPrefix: 'paymentMethod-',
  columns,
  computed: computedColumns,
  // Lists and totals never show removed rows, so the index leaves them out.
  indexes: (table) => `create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc)
    where not is_removed`,
  idOf: ({ data }) => data.payment_method_id,
  events: paymentMethodEvents,
  opens: {
    PaymentMethodAdded: ['personal'],
    PaymentMethodAliasChanged: ['personal'],
    PaymentMethodRefreshed: ['personal'],
  },
  on: {
    // Saving a removed method again replaces its old row.
    PaymentMethodAdded: (event) => ({ insert: added(event) }),
    PaymentMethodAliasChanged: ({ data }) => ({ patch: { alias: data.alias, updated_at: data.occurred_at } }),
    PaymentMethodRefreshed: ({ data }) => ({ patch: { ...detailsOf(data), updated_at: data.occurred_at } }),
    PaymentMethodRemoved: ({ data }) => ({ patch: { is_removed: true, updated_at: data.occurred_at } }),
  },
})

const added = ({ data }: PaymentMethodAdded): PaymentMethodRow => ({
  ...data,
  owner: recordedOwner(data),
  is_removed: false,
  created_at: data.occurred_at,
  updated_at: data.occurred_at,
})
