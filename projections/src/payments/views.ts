// From a row of the view `payments` to the payment that clients see, field by field: what is not
// named here cannot leave the service.
import type { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { WithSummary } from '../payment-methods/views.ts'
import { queryBuilder } from '../queries/composer.ts'
import type { PaymentRow } from './projection.ts'

/** A row of the view `payments`. */
export type PaymentRecord = PaymentRow & {
  readonly id: string
  readonly revision: number
  readonly amount_cents: number
}

export const views = queryBuilder<{ readonly payments: PaymentRecord }>('read_models')

/** What a list reads of each payment. */
export const listedColumns = [
  'id',
  'subtotal_cents',
  'tax_cents',
  'discount_cents',
  'total_cents',
  'amount_cents',
  'currency',
  'status',
  'description',
  'concept',
  'reference_code',
  'category',
  'tags',
  'provider_id',
  'payment_method_id',
  'is_guest_payment',
  'guest_email',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof PaymentRecord)[]

/** What only the single payment shows, and the revision for its ETag. */
export const singleColumns = [
  ...listedColumns,
  'provider_payment_id',
  'provider_intent_id',
  'client_secret',
  'metadata',
  'revision',
] as const satisfies readonly (keyof PaymentRecord)[]

/** With the summary of its method only when that was asked for. */
export type ListedRecord = Pick<PaymentRecord, (typeof listedColumns)[number]> & Partial<WithSummary>
export type SingleRecord = Pick<PaymentRecord, (typeof singleColumns)[number]> & WithSummary

export function listedPayment(record: ListedRecord): ListedPayment {
  return {
    id: record.id,
    subtotal_cents: record.subtotal_cents,
    tax_cents: record.tax_cents,
    discount_cents: record.discount_cents,
    total_cents: record.total_cents,
    amount_cents: record.amount_cents,
    currency: record.currency,
    status: record.status,
    description: record.description,
    concept: record.concept,
    reference_code: record.reference_code,
    category: record.category,
    tags: record.tags,
    provider_id: record.provider_id,
    payment_method_id: record.payment_method_id,
    is_guest_payment: record.is_guest_payment,
    guest_email: record.guest_email,
    created_at: record.created_at,
    updated_at: record.updated_at,
    completed_at: record.completed_at,
    ...(record.payment_method !== undefined && { payment_method: record.payment_method }),
  }
}

export function singlePayment(record: SingleRecord): PaymentResource {
  return {
    ...listedPayment(record),
    provider_payment_id: record.provider_payment_id,
    provider_intent_id: record.provider_intent_id,
    client_secret: record.client_secret,
    payment_method: record.payment_method,
    metadata: record.metadata,
  }
}
