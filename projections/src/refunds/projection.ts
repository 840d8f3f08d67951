// The projection of refunds: one row for each, by our id.

import { amountIn } from '@paylog/domain/payments/charges'
import { paymentEvents, type RefundReason, type RefundStatus } from '@paylog/domain/payments/events'
import { inPaymentCurrency } from '@paylog/domain/payments/reportedMoney'
import { bigint, first, kept, latest, merged, nullable, personal, text, textOf, time, uuid } from '../columns.ts'
import { defineProjection } from '../projection.ts'

const columns = {
  payment_id: uuid,
  provider_id: text,
  amount_cents: latest(nullable(bigint)),
  currency: text,
  reported_amount_cents: latest(nullable(bigint)),
  reported_currency: latest(nullable(text)),
  status: latest(textOf<RefundStatus>()),
  reason: textOf<RefundReason>(),
  note: personal(nullable(text)),
  provider_refund_id: nullable(text),
  failure_code: latest(nullable(text)),
  succeeded_at: merged(first(nullable(time))),
  // When it failed after it had succeeded: the money came back.
  returned_at: merged(first(nullable(time))),
  created_at: kept(time),
  updated_at: latest(time),
}

const { RefundRequested, ProviderCallFailed, RefundRecorded } = paymentEvents

export const refunds = defineProjection({
  name: 'refunds',
  schemaVersion: 4,
  streamPrefix: 'payment-',
  streamIdColumn: 'payment_id',
  columns,
  indexes: (table) => `
    create index if not exists ${table}_by_payment on ${table} (payment_id, created_at desc, id desc);
    create index if not exists ${table}_by_provider_id on ${table} (provider_refund_id);
    create index if not exists ${table}_by_creation on ${table} (created_at, id);
    create index if not exists ${table}_by_update on ${table} (updated_at, id);
    create index if not exists ${table}_by_status on ${table} (status, created_at, id);
    create index if not exists ${table}_by_success on ${table} (succeeded_at) where succeeded_at is not null;
    create index if not exists ${table}_by_return on ${table} (returned_at) where returned_at is not null;`,
  // Null for a failed call that is not a refund's.
  idOf: ({ data }) => data.refund_id ?? undefined,
  events: { RefundRequested, ProviderCallFailed, RefundRecorded },
  opens: { RefundRequested: ['personal'], RefundRecorded: ['personal'] },
  on: {
    // Repeated when its call did not reach the provider.
    RefundRequested: ({ data }) => ({
      insert: {
        ...data,
        ...inPaymentCurrency(data.refund_cents),
        status: 'pending',
        provider_refund_id: null,
        failure_code: null,
        succeeded_at: null,
        returned_at: null,
        created_at: data.occurred_at,
        updated_at: data.occurred_at,
      },
    }),
    ProviderCallFailed: ({ data }) => ({
      patch: {
        updated_at: data.occurred_at,
        ...(data.outcome === 'rejected' && { status: 'failed', failure_code: data.failure_code }),
      },
    }),
    // Also the first event of a refund that was made elsewhere, so it is a whole row.
    RefundRecorded: ({ data }) => ({
      insert: {
        ...data,
        ...amountIn(data, data.refund_cents),
        succeeded_at: data.status === 'succeeded' ? data.occurred_at : null,
        returned_at: data.status === 'failed' && data.was_succeeded ? data.occurred_at : null,
        created_at: data.occurred_at,
        updated_at: data.occurred_at,
      },
    }),
  },
})
