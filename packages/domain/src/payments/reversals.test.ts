// Charges that the provider took back, before and after their money was received.
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { receivedOf, refundedOf } from './charges.ts'
import { paymentFold } from './fold.ts'
import { existingPayment, type PaymentState } from './payment.ts'
import { recordRefund, requestRefund } from './refunds.ts'
import { recordStatusAndReversals } from './reversals.ts'
import type { RecordStatus } from './statusReports.ts'
import { applyTo, at, created, fold, initiated, notifies } from './testing/paymentFixture.ts'

const paid = { provider_payment_id: 'charge-1' }
const reversals = [{ provider_payment_id: 'charge-1', note: 'voided' }]
const open = fold([...initiated, ...created])
const succeeded = existingPayment(notifies('succeeded', 10, paid)(open).reduce(paymentFold.evolve, open))

const voids = (more: Partial<RecordStatus> = {}) => ({
  status: 'canceled' as const,
  provider_time: at(20),
  occurred_at: at(21),
  provider_event_id: 'evt_void',
  provider_intent_id: 'pi_1',
  amount_cents: 2599,
  currency: 'EUR',
  reversals,
  ...paid,
  ...more,
})

t.test('a charge that is voided before its money was received cancels the payment, without a refund', async (t) => {
  matchList(t, recordStatusAndReversals(voids(), open), [{ type: 'PaymentCanceled' }])
})

t.test('a charge that is voided after its money was received is refunded as a whole, once', async (t) => {
  const events = recordStatusAndReversals(voids(), succeeded)
  matchList(t, events, [
    {
      type: 'RefundRecorded',
      data: {
        refund_cents: 2599,
        status: 'succeeded',
        reason: 'other',
        note: 'voided',
        provider_refund_id: 'charge-1',
      },
    },
  ])
  const refunded = applyTo(succeeded, () => events)
  t.equal(refunded.status, 'succeeded')
  t.equal(refundedOf(refunded), receivedOf(refunded))
  t.same(recordStatusAndReversals(voids(), refunded), [], 'the same notification')
  t.same(
    recordStatusAndReversals(voids({ provider_event_id: null, source: 'snapshot' }), refunded),
    [],
    'a snapshot of it',
  )
})

t.test('a void that our own refund caused is that refund, whichever is recorded first', async (t) => {
  const command = {
    occurred_at: at(15),
    refund_id: '018f0000-0000-7000-8000-00000000000a',
    reason: 'duplicate',
  } as const
  const request = (state: PaymentState) =>
    requestRefund({ ...command, note: 'ours', request_fingerprint: null, refund_limit_cents: null }, state)
  const response = {
    ...{
      refund_id: command.refund_id,
      provider_refund_id: 'charge-1',
      amount_cents: 2599,
      currency: 'EUR',
      status: 'succeeded' as const,
    },
    ...{ occurred_at: at(22), provider_time: at(20), provider_event_id: null, provider_intent_id: 'pi_1', ...paid },
  }
  const requested = applyTo(succeeded, request)
  const notified = applyTo(requested, (state) => recordStatusAndReversals(voids(), state))
  t.match(notified.refunds, [
    { refund_id: command.refund_id, status: 'succeeded', reason: 'duplicate', call: { outcome: 'done' } },
  ])
  t.same(recordRefund(response, notified), [])
  const responded = applyTo(requested, (state) => recordRefund(response, state))
  t.same(recordStatusAndReversals(voids(), responded), [])
  t.equal(responded.refunds.length, 1)
})

t.test('a reversal beside a success is recorded with it', async (t) => {
  const command = voids({ status: 'succeeded', provider_event_id: null, source: 'snapshot' })
  matchList(t, recordStatusAndReversals(command, open), [{ type: 'PaymentSucceeded' }, { type: 'RefundRecorded' }])
})

t.test('the reversal of a second charge that was not received changes nothing', async (t) => {
  const other = [{ provider_payment_id: 'charge-2', note: 'voided' }]
  t.same(recordStatusAndReversals(voids({ status: 'succeeded', reversals: other }), succeeded), [])
})
