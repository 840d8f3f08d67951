// The projection of disputes: one row for each, by our id.

import { amountIn } from '@paylog/domain/payments/charges'
import { hasTakenMoney } from '@paylog/domain/payments/disputes'
import { type DisputeStatus, paymentEvents } from '@paylog/domain/payments/events'
import { bigint, entriesOf, kept, merged, nullable, text, textOf, time, uuid } from '../columns.ts'
import { defineProjection } from '../projection.ts'

/** Whether the money was taken, and since when: each report says it again. */
export type DisputedMoney = { readonly at: string; readonly is_taken: boolean }

const columns = {
  payment_id: uuid,
  provider_id: text,
  provider_dispute_id: nullable(text),
  amount_cents: nullable(bigint),
  currency: text,
  reported_amount_cents: nullable(bigint),
  reported_currency: nullable(text),
  status: textOf<DisputeStatus>(),
  provider_status: text,
  reason: nullable(text),
  evidence_due_by: nullable(time),
  // By the revision of the event.
  money: merged(entriesOf<DisputedMoney>()),
  created_at: kept(time),
  updated_at: time,
}

const { PaymentDisputeRecorded } = paymentEvents

export const disputes = defineProjection({
  name: 'disputes',
  schemaVersion: 3,
  streamPrefix: 'payment-',
  streamIdColumn: 'payment_id',
  columns,
  indexes: (table) => `
    create index if not exists ${table}_by_payment on ${table} (payment_id, created_at, id);
    create index if not exists ${table}_by_creation on ${table} (created_at, id);
    create index if not exists ${table}_by_update on ${table} (updated_at, id);
    create index if not exists ${table}_by_status on ${table} (status, created_at, id);
    create index if not exists ${table}_by_provider_id on ${table} (provider_dispute_id);`,
  idOf: ({ data }) => data.dispute_id,
  events: { PaymentDisputeRecorded },
  on: {
    // Each report has the whole dispute.
    PaymentDisputeRecorded: ({ data, revision }) => ({
      insert: {
        ...data,
        ...amountIn(data, data.disputed_cents),
        money: { [String(revision)]: { at: data.occurred_at, is_taken: hasTakenMoney(data) } },
        created_at: data.occurred_at,
        updated_at: data.occurred_at,
      },
    }),
  },
})
