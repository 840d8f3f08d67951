// The projection of disputes: one row for each, by our id.

import { amountIn } from '@paylog/domain/payments/charges'
import { type DisputeStatus, paymentEvents } from '@paylog/domain/payments/events'
import { bigint, kept, nullable, text, textOf, time, uuid } from '../columns.ts'
import { defineProjection } from '../projection.ts'

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
  created_at: kept(time),
  updated_at: time,
}

const { PaymentDisputeRecorded } = paymentEvents

export const disputes = defineProjection({
  name: 'disputes',
  schemaVersion: 2,
  streamPrefix: 'payment-',
  streamIdColumn: 'payment_id',
  columns,
  indexes: (table) => `
    create index if not exists ${table}_by_creation on ${table} (created_at, id);
    create index if not exists ${table}_by_status on ${table} (status, created_at, id);
    create index if not exists ${table}_by_provider_id on ${table} (provider_dispute_id);`,
  idOf: ({ data }) => data.dispute_id,
  events: { PaymentDisputeRecorded },
  on: {
    // Each report has the whole dispute.
    PaymentDisputeRecorded: ({ data }) => ({
      insert: {
        ...data,
        ...amountIn(data, data.disputed_cents),
        created_at: data.occurred_at,
        updated_at: data.occurred_at,
      },
    }),
  },
})
