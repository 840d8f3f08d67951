// Payments as rows: what each event of a payment changes.
import { guestOwner, userOwner } from '@paylog/domain/owner'
import { type PaymentEvent, type PaymentInitiated, paymentEvents } from '@paylog/domain/payments/events'
import { isAbsorbing, type PaymentStatus } from '@paylog/domain/payments/status'
import { type Change, defineProjection, first, latest } from '../projection.ts'
import { foldCase } from '../queries/foldCase.ts'
import { paymentsTable } from './table.ts'

export type PaymentRow = {
  readonly owner: string | null
  readonly search_text: string
  readonly subtotal_cents: number
  readonly tax_cents: number
  readonly discount_cents: number
  readonly total_cents: number
  readonly currency: string
  readonly status: PaymentStatus
  readonly description: string | null
  readonly concept: string | null
  readonly reference_code: string | null
  readonly category: string | null
  readonly tags: string | null
  readonly provider_id: string
  readonly provider_payment_id: string | null
  readonly provider_intent_id: string | null
  readonly client_secret: string | null
  readonly payment_method_id: string | null
  readonly is_guest_payment: boolean
  readonly guest_email: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly created_at: string
  readonly updated_at: string
  readonly completed_at: string | null
}

type EvidenceEvent = Extract<PaymentEvent, { data: { provider_payment_id: string | null } }>

/** The provider's word on the status: the same rules as the domain's fold of a payment. */
const evidence =
  (status: PaymentStatus) =>
  ({ data }: EvidenceEvent): Change<PaymentRow> => ({
    patch: {
      status,
      updated_at: data.occurred_at,
      ...(isAbsorbing(status) && { completed_at: data.occurred_at }),
      ...(data.provider_payment_id !== null && { provider_payment_id: data.provider_payment_id }),
    },
  })

export const payments = defineProjection<PaymentEvent, PaymentRow>({
  name: 'payments',
  definition: 1,
  streamPrefixes: ['payment-'],
  table: paymentsTable,
  columns: {
    owner: { type: 'text' },
    search_text: { type: 'text' },
    subtotal_cents: { type: 'bigint' },
    tax_cents: { type: 'bigint' },
    discount_cents: { type: 'bigint' },
    total_cents: { type: 'bigint' },
    currency: { type: 'text' },
    status: { type: 'text', merge: latest },
    description: { type: 'text' },
    concept: { type: 'text' },
    reference_code: { type: 'text' },
    category: { type: 'text' },
    tags: { type: 'text' },
    provider_id: { type: 'text' },
    provider_payment_id: { type: 'text', merge: latest },
    provider_intent_id: { type: 'text', merge: latest },
    client_secret: { type: 'text', merge: latest },
    payment_method_id: { type: 'text' },
    is_guest_payment: { type: 'boolean' },
    guest_email: { type: 'text' },
    metadata: { type: 'json' },
    created_at: { type: 'timestamptz' },
    updated_at: { type: 'timestamptz', merge: latest },
    completed_at: { type: 'timestamptz', merge: first },
  },
  idOf: ({ data }) => data.payment_id,
  // What is only kept on record still raises the revision.
  events: paymentEvents,
  on: {
    PaymentInitiated: (event) => ({ insert: initiated(event) }),
    ProviderIntentCreated: ({ data }) => ({
      patch: {
        provider_intent_id: data.provider_intent_id,
        client_secret: data.client_secret,
        updated_at: data.occurred_at,
      },
    }),
    PaymentAttemptStarted: ({ data }) => ({ patch: { status: 'pending', updated_at: data.occurred_at } }),
    PaymentActionRequired: evidence('pending'),
    PaymentProcessingStarted: evidence('processing'),
    PaymentSucceeded: evidence('succeeded'),
    PaymentAttemptFailed: evidence('failed'),
    PaymentCanceled: evidence('canceled'),
  },
})

function initiated({ data }: PaymentInitiated): PaymentRow {
  return {
    owner: ownerOf(data),
    search_text: foldCase(
      [data.payment_id, data.guest_email, data.payer.email, data.description]
        .filter((text) => text !== null)
        .join('\u001f'),
    ),
    subtotal_cents: data.subtotal_cents,
    tax_cents: data.tax_cents,
    discount_cents: data.discount_cents,
    total_cents: data.total_cents,
    currency: data.currency,
    status: 'pending',
    description: data.description,
    concept: data.concept,
    reference_code: data.reference_code,
    category: data.category,
    tags: data.tags,
    provider_id: data.provider_id,
    provider_payment_id: null,
    provider_intent_id: null,
    client_secret: null,
    payment_method_id: data.payment_method_id,
    is_guest_payment: data.is_guest_payment,
    guest_email: data.guest_email,
    metadata: data.metadata,
    created_at: data.occurred_at,
    updated_at: data.occurred_at,
    completed_at: null,
  }
}

/** A session's payment is its user's alone, whatever e-mail it carries; a plain anonymous one is nobody's. */
function ownerOf({ payer, guest_email }: PaymentInitiated['data']): string | null {
  if (payer.id !== null) return userOwner(payer.id)
  return guest_email === null ? null : guestOwner(guest_email)
}
