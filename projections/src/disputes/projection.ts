// The projection of disputes: one row for each, by our id.
import { type DisputeStatus, paymentEvents } from '@paylog/domain/payments/events'
import { bigint, kept, nullable, text, textOf, time, uuid } from '../columns.ts'
import { defineProjection } from '../projection.ts'

const columns = {
  payment_id: uuid,
  provider_id: text,
  provider_dispute_id: nullable(text),
  amount_cents: nullable(bigint),
  currency: text,
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
  schemaVersion: 1,
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
        payment_id: data.payment_id,
        provider_id: data.provider_id,
        provider_dispute_id: data.provider_dispute_id,
        amount_cents: data.disputed_cents,
        currency: data.currency,
        status: data.status,
        provider_status: data.provider_status,
        reason: data.reason,
        evidence_due_by: data.evidence_due_by,
        created_at: data.occurred_at,
        updated_at: data.occurred_at,
      },
    }),
  },
})
