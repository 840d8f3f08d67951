// Saved payment methods as rows: what each event of a method changes.
import { recordedOwner } from '@paylog/domain/owner'
import {
  type BillingDetails,
  type MethodDetails,
  type PaymentMethodAdded,
  type PaymentMethodEvent,
  paymentMethodEvents,
} from '@paylog/domain/payment-methods/events'
import { detailsOf } from '@paylog/domain/payment-methods/paymentMethod'
import { defineProjection, latest } from '../projection.ts'
import { paymentMethodsTable } from './table.ts'

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
  readonly is_default: boolean
  readonly default_choice: number | null
  readonly is_removed: boolean
  readonly created_at: string
  readonly updated_at: string
}

export const paymentMethods = defineProjection<PaymentMethodEvent, PaymentMethodRow>({
  name: 'payment_methods',
  definition: 1,
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
    is_default: { type: 'boolean', merge: latest },
    default_choice: { type: 'bigint', merge: latest },
    is_removed: { type: 'boolean', merge: latest },
    created_at: { type: 'timestamptz' },
    updated_at: { type: 'timestamptz', merge: latest },
  },
  idOf: ({ data }) => data.payment_method_id,
  events: paymentMethodEvents,
  on: {
    // Also of a method that was removed: it begins anew, over the row of its past.
    PaymentMethodAdded: (event) => ({ insert: added(event) }),
    PaymentMethodAliasChanged: ({ data }) => ({ patch: { alias: data.alias, updated_at: data.occurred_at } }),
    PaymentMethodMadeDefault: ({ data }) => ({
      patch: { is_default: true, default_choice: data.default_choice, updated_at: data.occurred_at },
    }),
    PaymentMethodDefaultCleared: ({ data }) => ({ patch: { is_default: false, updated_at: data.occurred_at } }),
    PaymentMethodRefreshed: ({ data }) => ({ patch: { ...detailsOf(data), updated_at: data.occurred_at } }),
    PaymentMethodRemoved: ({ data }) => ({
      patch: { is_removed: true, is_default: false, updated_at: data.occurred_at },
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
    is_default: data.default_choice !== null,
    default_choice: data.default_choice,
    is_removed: false,
    created_at: data.occurred_at,
    updated_at: data.occurred_at,
  }
}
