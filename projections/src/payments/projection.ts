// The projection of payments: the columns of its table, and what each event changes.

import { guestOwner, userOwner } from '@paylog/domain/actor'
import { mapFields } from '@paylog/domain/fields'
import { clientTexts, clientTextsOf } from '@paylog/domain/payments/clientTexts'
import { type PaymentEvent, type PaymentInitiated, paymentEvents } from '@paylog/domain/payments/events'
import { isAbsorbing, type PaymentStatus } from '@paylog/domain/payments/payment'
import {
  bigint,
  boolean,
  computed,
  first,
  jsonOf,
  latest,
  nullable,
  type RecordOf,
  type RowOf,
  text,
  textOf,
  time,
} from '../columns.ts'
import { type Change, defineProjection } from '../projection.ts'
import { foldCase } from '../queries/textFilters.ts'

const columns = {
  // 'user:<id>' or 'guest:<e-mail>'; null for an anonymous payment without e-mail.
  owner: nullable(text),
  // Lower-case id, e-mails and description, separated by U+001F, which no search term may contain.
  search_text: text,
  subtotal_cents: bigint,
  tax_cents: bigint,
  discount_cents: bigint,
  total_cents: bigint,
  currency: text,
  status: latest(textOf<PaymentStatus>()),
  ...mapFields(clientTexts, () => nullable(text)),
  provider_id: text,
  provider_payment_id: latest(nullable(text)),
  provider_intent_id: latest(nullable(text)),
  client_secret: latest(nullable(text)),
  payment_method_id: nullable(text),
  is_guest_payment: boolean,
  guest_email: nullable(text),
  metadata: jsonOf<Readonly<Record<string, unknown>>>(),
  created_at: time,
  updated_at: latest(time),
  completed_at: first(nullable(time)),
}

const computedColumns = { amount_cents: computed(bigint, 'total_cents') }

type PaymentRow = RowOf<typeof columns>
/** A row of the view `payments`. */
export type PaymentRecord = RecordOf<typeof columns, typeof computedColumns>
export const paymentColumns = { ...columns, ...computedColumns }

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

export const payments = defineProjection({
  name: 'payments',
  schemaVersion: 1,
  streamPrefixes: ['payment-'],
  columns,
  computed: computedColumns,
  // Every query has one owner, so a search reads only that owner's payments. A trigram index over search_text would triple
  // the time of projecting, and a short pattern would read the whole index instead of one owner's rows.
  indexes: (table) => `create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc)`,
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
    ...clientTextsOf(data),
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
