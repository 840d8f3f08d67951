// The projection of payments: its tables and views, and what each event changes.

import { guestOwner, userOwner } from '@paylog/domain/actor'
import { type PaymentEvent, type PaymentInitiated, paymentEvents } from '@paylog/domain/payments/events'
import { isAbsorbing, type PaymentStatus } from '@paylog/domain/payments/payment'
import { type Change, defineProjection, first, latest, type TableSql } from '../projection.ts'
import { foldCase } from '../queries/textFilters.ts'

// Most payments change a few times after their creation: free space in the pages allows updates without index writes.
const create = (table: string) => `
  create table ${table} (
    id uuid primary key,
    revision bigint not null,
    -- 'user:<id>' or 'guest:<e-mail>'; null for an anonymous payment without e-mail.
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
    -- Only returned as a whole, so its text is stored unchanged.
    metadata json not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    completed_at timestamptz
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Every query has one owner, so a search reads only that owner's payments. A trigram index over search_text would
  -- triple the time of projecting, and a short pattern would read the whole index instead of one owner's rows.
  create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc);`

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

const paymentsTable: TableSql = { create, indexes, view }

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

/** A provider's report on the status, by the same rules as the domain's fold. */
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
  schemaVersion: 1,
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
  // Events without a handler still raise the revision.
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

/** A session's payment belongs only to its user, with any e-mail. An anonymous payment without e-mail has no owner. */
function ownerOf({ payer, guest_email }: PaymentInitiated['data']): string | null {
  if (payer.id !== null) return userOwner(payer.id)
  return guest_email === null ? null : guestOwner(guest_email)
}
