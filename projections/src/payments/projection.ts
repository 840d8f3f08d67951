// The projection of payments: the columns of its table, and what each event changes.

import { guestOwner, userOwner } from '@paylog/domain/actor'
import { mapFields } from '@paylog/domain/fields'
import { attentionIn } from '@paylog/domain/payments/attention'
import { clientTexts, clientTextsOf } from '@paylog/domain/payments/clientTexts'
import {
  type CaptureMethod,
  type PaymentEvent,
  type PaymentInitiated,
  paymentEvents,
} from '@paylog/domain/payments/events'
import { isAbsorbing, noSecrets, type PaymentStatus } from '@paylog/domain/payments/payment'
import { isCreateRejected } from '@paylog/domain/payments/providerCall'
import {
  bigint,
  boolean,
  computed,
  first,
  jsonOf,
  latest,
  nullable,
  personal,
  type RowOf,
  secret,
  text,
  textOf,
  time,
} from '../columns.ts'
import { type Change, defineProjection } from '../projection.ts'
import { foldCase, foldedGuestEmail } from '../searchText.ts'
import { computedMoneyColumns, moneyColumns } from './moneyColumns.ts'
import { searchTerms, searchTermsSql } from './searchTerms.ts'

const columns = {
  // 'user:<id>' or 'guest:<e-mail>'; null for an anonymous payment without e-mail.
  owner: personal(nullable(text)),
  // Lower-case id, e-mails, concept, reference and description, separated by U+001F, which no search term may contain.
  search_text: personal(text),
  // See searchTerms.ts.
  search_terms: personal(text),
  subtotal_cents: bigint,
  tax_cents: bigint,
  discount_cents: bigint,
  total_cents: bigint,
  currency: text,
  status: latest(textOf<PaymentStatus>()),
  ...mapFields(clientTexts, () => personal(nullable(text))),
  provider_id: text,
  provider_payment_id: latest(nullable(text)),
  provider_intent_id: latest(nullable(text)),
  // Null once the payment has ended.
  client_secret: secret(latest(nullable(text))),
  redirect_url: secret(latest(nullable(text))),
  capture_method: textOf<CaptureMethod>(),
  amount_capturable_cents: latest(bigint),
  expires_at: nullable(time),
  ...moneyColumns,
  payment_method_id: nullable(text),
  is_guest_payment: boolean,
  guest_email: personal(nullable(text)),
  metadata: personal(jsonOf<Readonly<Record<string, unknown>>>()),
  created_at: time,
  updated_at: latest(time),
  completed_at: first(nullable(time)),
}

const computedColumns = {
  amount_cents: computed(bigint, 'total_cents'),
  // Null for a guest's payment.
  user_id: computed(nullable(text), "case when owner like 'user:%' then substr(owner, 6) end"),
  ...computedMoneyColumns,
}

type PaymentRow = RowOf<typeof columns>

type ReportEvent = Extract<
  PaymentEvent,
  {
    type:
      | 'PaymentActionRequired'
      | 'PaymentProcessingStarted'
      | 'PaymentSucceeded'
      | 'PaymentAttemptFailed'
      | 'PaymentCanceled'
  }
>

/** A provider's report on the status, by the same rules as the domain's fold. */
const report =
  (status: PaymentStatus) =>
  ({ data }: ReportEvent): { readonly patch: Partial<PaymentRow> } => ({
    patch: {
      status,
      updated_at: data.occurred_at,
      amount_capturable_cents: 0,
      ...(isAbsorbing(status) && { completed_at: data.occurred_at, ...noSecrets }),
      ...(data.provider_payment_id !== null && { provider_payment_id: data.provider_payment_id }),
    },
  })

const touched = ({ data }: { readonly data: { readonly occurred_at: string } }): Change<PaymentRow> => ({
  patch: { updated_at: data.occurred_at },
})

type Revised<Event> = Event & { readonly revision: bigint }

/** Postgres has neither NUL nor lone surrogates in JSON. */
const jsonText = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')

const chargeReport = (revision: bigint, charge: string | null, cents: number) => ({
  [String(revision)]: { charge: charge === null ? null : jsonText(charge), cents },
})

function attentionPatch(event: Revised<PaymentEvent>): Partial<PaymentRow> {
  const attention = attentionIn(event)
  if (attention === null) return {}
  const { code, occurred_at, message } = attention
  return { attention_entries: { [String(event.revision)]: { code, occurred_at, message } } }
}

/** Money in the payment's currency that came in another amount, or that nobody asked for. */
function unexpectedMoney(
  event: Revised<Extract<PaymentEvent, { type: 'PaymentAmountMismatch' | 'PaymentConflictDetected' }>>,
): Change<PaymentRow> {
  const { reported_amount_cents: cents, reported_currency, currency, provider_payment_id } = event.data
  const isReceived = cents !== null && (reported_currency ?? currency) === currency
  return {
    patch: {
      ...attentionPatch(event),
      ...(isReceived && {
        charge_reports: { ...chargeReport(event.revision, provider_payment_id, cents), others: true },
      }),
    },
  }
}

const indexes = (table: string) => `
  -- A search of an owner reads only that owner's payments. A trigram index over search_text would triple the time of
  -- projecting, and a short pattern would read the whole index instead of one owner's rows.
  create index if not exists ${table}_by_owner on ${table} (owner, created_at desc, id desc);
  create index if not exists ${table}_by_guest on ${table} ((${foldedGuestEmail}), created_at desc, id desc)
    where guest_email is not null;

  -- The administrators' list and its searches.
  create index if not exists ${table}_by_creation on ${table} (created_at, id);
  create index if not exists ${table}_by_update on ${table} (updated_at, id);
  create index if not exists ${table}_by_amount on ${table} (total_cents, id);
  create index if not exists ${table}_by_intent on ${table} (provider_intent_id) where provider_intent_id is not null;
  create index if not exists ${table}_by_charge on ${table} (provider_payment_id) where provider_payment_id is not null;
  create index if not exists ${table}_by_terms on ${table} using gin ((${searchTermsSql}))
    with (gin_pending_list_limit = 512);
  create index if not exists ${table}_refunded on ${table} (created_at, id) where refunded_cents is not null;
  create index if not exists ${table}_disputed on ${table} (created_at, id) where dispute_statuses is not null;
  -- For reports: what succeeded, from the index alone, and payments with money that was not asked for.
  create index if not exists ${table}_by_success on ${table} (completed_at) include (provider_id, currency, succeeded_cents)
    where succeeded_cents is not null;
  create index if not exists ${table}_with_others on ${table} (completed_at) where charge_reports ? 'others';
  create index if not exists ${table}_with_attention on ${table} (created_at, id) where attention_entries is not null;`

export const payments = defineProjection({
  name: 'payments',
  schemaVersion: 5,
  streamPrefix: 'payment-',
  columns,
  computed: computedColumns,
  indexes,
  idOf: ({ data }) => data.payment_id,
  // Events without a handler still raise the revision.
  events: paymentEvents,
  opens: { PaymentInitiated: ['personal', 'guest'], ProviderIntentCreated: ['secret'] },
  on: {
    PaymentInitiated: (event) => ({ insert: initiated(event) }),
    ProviderIntentCreated: ({ data }) => ({
      patch: {
        provider_intent_id: data.provider_intent_id,
        client_secret: data.client_secret,
        redirect_url: data.redirect_url,
        updated_at: data.occurred_at,
      },
    }),
    PaymentAttemptStarted: ({ data }) => ({
      patch: {
        status: 'pending',
        provider_intent_id: null,
        ...noSecrets,
        updated_at: data.occurred_at,
      },
    }),
    PaymentActionRequired: report('pending'),
    PaymentProcessingStarted: (event) => ({
      patch: { ...report('processing')(event).patch, amount_capturable_cents: event.data.capturable_cents },
    }),
    PaymentSucceeded: (event) => {
      const { provider_payment_id, received_cents: succeeded_cents } = event.data
      const charge_reports = chargeReport(event.revision, provider_payment_id, succeeded_cents)
      return { patch: { ...report('succeeded')(event).patch, charge_reports, succeeded_cents } }
    },
    PaymentAttemptFailed: report('failed'),
    PaymentCanceled: report('canceled'),
    PaymentAmountMismatch: unexpectedMoney,
    PaymentConflictDetected: unexpectedMoney,
    ProviderEventIgnored: (event) => ({ patch: attentionPatch(event) }),
    PaymentCancelRequested: touched,
    PaymentCaptureRequested: touched,
    RefundRequested: touched,
    ProviderCallFailed: (event) =>
      isCreateRejected(event.data)
        ? { patch: { status: 'failed', updated_at: event.data.occurred_at, amount_capturable_cents: 0 } }
        : touched(event),
    RefundRecorded: (event) => {
      const { refund_id, refund_cents, status, occurred_at } = event.data
      const refunded_cents = { [refund_id]: status === 'succeeded' ? (refund_cents ?? 0) : 0 }
      return { patch: { ...attentionPatch(event), refunded_cents, updated_at: occurred_at } }
    },
    PaymentDisputeRecorded: (event) => {
      const { dispute_id, status } = event.data
      return { patch: { ...attentionPatch(event), dispute_statuses: { [dispute_id]: status } } }
    },
  },
})

function initiated({ data }: PaymentInitiated): PaymentRow {
  const texts = clientTextsOf(data)
  const { concept, reference_code, description } = texts
  return {
    ...data,
    ...texts,
    owner: ownerOf(data),
    search_text: foldCase(
      [data.payment_id, data.guest_email, data.payer.email, concept, reference_code, description]
        .filter((text) => text !== null)
        .join('\u001f'),
    ),
    search_terms: searchTerms({ ...texts, emails: [data.guest_email, data.payer.email] }),
    status: 'pending',
    provider_payment_id: null,
    provider_intent_id: null,
    ...noSecrets,
    amount_capturable_cents: 0,
    charge_reports: null,
    succeeded_cents: null,
    refunded_cents: null,
    dispute_statuses: null,
    attention_entries: null,
    metadata: data.metadata ?? {},
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
