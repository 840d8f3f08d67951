// Random steps of a payment after it was created: refunds, disputes, captures and cancellations.
import { type NamedCall, recordCallFailed, requestCancel, requestCapture } from '@paylog/domain/payments/calls'
import { recordDispute } from '@paylog/domain/payments/disputes'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { PaymentState } from '@paylog/domain/payments/payment'
import { recordRefund, requestRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import fc from 'fast-check'

type Decision = (state: PaymentState) => readonly PaymentEvent[]

const time = fc
  .integer({ min: 0, max: 3_600 })
  .map((seconds) => new Date(Date.UTC(2026, 2, 1) + seconds * 1_000).toISOString())
const charge = fc.constantFrom('ch_1', 'ch_2', 'ch_\0\ud800', null)
const cents = fc.integer({ min: 1, max: 2_000 })

const source = fc.record({
  occurred_at: time,
  provider_time: time,
  provider_event_id: fc.option(fc.uuid()),
  provider_intent_id: fc.constantFrom(null, 'pi_other'),
  provider_payment_id: charge,
})

const received = fc
  .record({ source, amount_cents: cents, currency: fc.constantFrom('EUR', 'usd', null), capturable_cents: fc.nat(500) })
  .chain(({ source, ...money }) =>
    fc
      .constantFrom('processing' as const, 'succeeded' as const, 'succeeded' as const, 'canceled' as const)
      .map((status) => ({ ...source, ...money, provider_intent_id: null, status })),
  )

const refund = (refundId: fc.Arbitrary<string>) =>
  fc.record({
    source,
    refund_id: fc.option(refundId),
    provider_refund_id: fc.constantFrom('re_1', 're_2', null),
    amount_cents: fc.option(cents),
    currency: fc.constantFrom('EUR', 'usd', null),
    status: fc.constantFrom('pending' as const, 'succeeded' as const, 'failed' as const),
  })

const dispute = fc.record({
  source,
  provider_dispute_id: fc.constantFrom('dp_1', 'dp_2', null),
  status: fc.constantFrom('open' as const, 'won' as const, 'lost' as const),
  provider_status: fc.constantFrom('needs_response', 'under_review', 'closed'),
  reason: fc.constantFrom('fraudulent', null),
  evidence_due_by: fc.option(time),
  amount_cents: fc.option(cents),
  currency: fc.constantFrom('EUR', 'usd', null),
})

const callFailures = fc.record({
  outcome: fc.constantFrom('unknown' as const, 'throttled' as const, 'rejected' as const),
  error_code: fc.constantFrom('provider_unavailable' as const, 'provider_rejected' as const),
  failure_code: fc.constant('no'),
  failure_message: fc.constant('no'),
})
const namedCall = (refundId: fc.Arbitrary<string>): fc.Arbitrary<NamedCall> =>
  fc.oneof(
    fc.record({ call: fc.constantFrom('cancel' as const, 'capture' as const) }),
    refundId.map((refund_id) => ({ call: 'refund' as const, refund_id })),
  )

/** Of decisions that the state may not allow: nothing is recorded then. */
const ifPossible =
  (decide: Decision): Decision =>
  (state) => {
    try {
      return decide(state)
    } catch {
      return []
    }
  }

/** One step of a payment that exists. @param number of the payment, because refunds of two payments have different ids */
export function moneySteps(number: number): fc.Arbitrary<Decision> {
  const refundId = fc.nat(2).map((one) => `00000000-0000-7000-8009-0000000000${number}${one}`)
  return fc
    .oneof(
      received.map(
        (command): Decision =>
          (state) =>
            recordStatus(command, state),
      ),
      fc.record({ occurred_at: time, refund_id: refundId, amount_cents: fc.option(cents, { nil: undefined }) }).map(
        (command): Decision =>
          (state) =>
            requestRefund(
              { ...command, reason: 'other', note: null, request_fingerprint: null, refund_limit_cents: null },
              state,
            ),
      ),
      refund(refundId).map(
        ({ source, ...command }): Decision =>
          (state) =>
            recordRefund({ ...source, ...command }, state),
      ),
      dispute.map(
        ({ source, ...command }): Decision =>
          (state) =>
            recordDispute({ ...source, ...command }, state),
      ),
      fc.record({ occurred_at: time, named: namedCall(refundId), failure: callFailures }).map(
        ({ occurred_at, named, failure }): Decision =>
          (state) =>
            recordCallFailed(named, { ...failure, occurred_at }, state),
      ),
      time.map(
        (occurred_at): Decision =>
          (state) =>
            requestCancel({ occurred_at, reason: null }, state),
      ),
      time.map(
        (occurred_at): Decision =>
          (state) =>
            requestCapture({ occurred_at }, state),
      ),
    )
    .map(ifPossible)
}
