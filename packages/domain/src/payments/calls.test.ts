import { given } from '@paylog/testing/assertions'
import t from 'tap'
import { recordCallFailed, requestCancel, requestCapture, requestExpiry } from './calls.ts'
import type { PaymentEvent } from './events.ts'
import { paymentFold } from './fold.ts'
import { initiatePayment, recordIntentCreated } from './initiate.ts'
import { receivedOf } from './money.ts'
import { existingPayment, noPayment, openCallsOf, type PaymentState } from './payment.ts'
import {
  at,
  declined,
  eventsAfter,
  fold,
  initiated,
  notifies,
  paymentFixture,
  rejectedBy,
  snapshots,
} from './testing/paymentFixture.ts'

const cancels =
  (reason: string | null = null) =>
  (state: PaymentState) =>
    requestCancel({ occurred_at: at(50), reason }, state)
const captures = (amount_cents?: number) => (state: PaymentState) =>
  requestCapture({ occurred_at: at(50), amount_cents }, state)
const fails = (call: 'cancel' | 'capture', outcome: 'unknown' | 'throttled' | 'rejected') => (state: PaymentState) =>
  recordCallFailed(
    { occurred_at: at(55), call, refund_id: null, outcome, refusal: 'provider_rejected', code: 'no', message: 'no' },
    state,
  )
const apply = (events: readonly PaymentEvent[], ...decisions: ((state: PaymentState) => PaymentEvent[])[]) =>
  decisions.reduce<PaymentEvent[]>((all, decide) => all.concat(decide(fold(all))), [...events])
const opened = (more: object) => {
  const first = initiatePayment({ ...paymentFixture, ...more }, noPayment)
  const intent = { occurred_at: at(1), attempt: 1, provider_intent_id: 'pi_1', client_secret: 'secret' }
  return [...first, ...recordIntentCreated(intent, fold(first))]
}
const manual = opened({ capture_method: 'manual' })
const authorized = apply(manual, notifies('processing', 10, { capturable_cents: 2599 }))

t.test('a payment that is pending, declined or authorized can be canceled', async (t) => {
  for (const history of [initiated, eventsAfter(), eventsAfter('pending'), eventsAfter('failed'), authorized])
    given(t, paymentFold, history)
      .when(cancels('why'))
      .then([{ type: 'PaymentCancelRequested', data: { reason: 'why' } }])
  // An approval that is not captured yet.
  given(t, paymentFold, eventsAfter('processing'))
    .when(cancels())
    .then([{ type: 'PaymentCancelRequested' }])
})

t.test('a payment that has succeeded, is charged, or has no intent cannot be canceled', async (t) => {
  const charged = apply(eventsAfter(), notifies('processing', 10, { provider_payment_id: 'ch_1' }))
  for (const history of [eventsAfter('succeeded'), charged, rejectedBy(declined)])
    given(t, paymentFold, history).when(cancels()).thenThrows('payment_not_cancelable')
})

t.test('canceling twice records one request', async (t) => {
  given(t, paymentFold, apply(eventsAfter(), cancels())).when(cancels()).then([])
  given(t, paymentFold, eventsAfter('canceled')).when(cancels()).then([])
})

t.test('a cancellation ends with the reason of the request', async (t) => {
  const canceled = apply(eventsAfter(), cancels('changed my mind'), snapshots('canceled', 60, { reason: 'requested' }))
  t.match(canceled.at(-1), { type: 'PaymentCanceled', data: { reason: 'changed my mind' } })
  t.match(fold(canceled), { status: 'canceled', requested: null })
})

t.test('the payer who is faster than a cancellation has paid', async (t) => {
  const paid = fold(apply(eventsAfter(), cancels(), snapshots('succeeded', 60)))
  t.match(paid, { status: 'succeeded', requested: null, attention: [] })
})

t.test('a call with an unknown outcome stays open, a rejected one ends', async (t) => {
  const openCalls = (events: readonly PaymentEvent[]) => openCallsOf(existingPayment(fold(events))).length
  const requested = apply(eventsAfter(), cancels())
  t.equal(openCalls(requested), 1)
  t.equal(openCalls(apply(requested, fails('cancel', 'unknown'))), 1)
  t.equal(openCalls(apply(requested, fails('cancel', 'throttled'))), 1)
  const rejected = apply(requested, fails('cancel', 'rejected'))
  t.equal(openCalls(rejected), 0)
  given(t, paymentFold, rejected).when(fails('cancel', 'rejected')).then([])
  given(t, paymentFold, apply(rejected, cancels())).when(fails('capture', 'rejected')).then([])
})

t.test('an unpaid payment expires at its time, a processed or paid one never', async (t) => {
  const expiring = opened({ expires_at: at(100) })
  const expires = (seconds: number) => (state: PaymentState) => requestExpiry({ occurred_at: at(seconds) }, state)
  given(t, paymentFold, expiring).when(expires(99)).then([])
  const begins = [{ type: 'PaymentCancelRequested', data: { reason: 'expired', is_expiry: true } }] as const
  given(t, paymentFold, expiring)
    .when(expires(100))
    .then([...begins])
  given(t, paymentFold, apply(expiring, notifies('pending', 10)))
    .when(expires(100))
    .then([...begins])
  given(t, paymentFold, apply(expiring, notifies('failed', 10)))
    .when(expires(100))
    .then([...begins])
  for (const status of ['processing', 'succeeded', 'canceled'] as const)
    given(t, paymentFold, apply(expiring, notifies(status, 10)))
      .when(expires(100))
      .then([])
  given(t, paymentFold, eventsAfter()).when(expires(10_000)).then([])
})

t.test('an authorized payment is captured in whole or in part, and not beyond', async (t) => {
  t.match(fold(authorized), { status: 'processing', capturable_cents: 2599 })
  given(t, paymentFold, authorized)
    .when(captures())
    .then([{ type: 'PaymentCaptureRequested', data: { capture_cents: 2599 } }])
  given(t, paymentFold, authorized)
    .when(captures(100))
    .then([{ type: 'PaymentCaptureRequested', data: { capture_cents: 100 } }])
  given(t, paymentFold, authorized).when(captures(2600)).thenThrows('capture_exceeds_authorization')
  const captured = apply(authorized, captures(100), snapshots('succeeded', 60, { amount_cents: 100 }))
  t.match(fold(captured), { status: 'succeeded', capturable_cents: 0, requested: null, attention: [] })
  t.equal(receivedOf(existingPayment(fold(captured))), 100)
})

t.test('only an authorized payment can be captured, and only by one request at a time', async (t) => {
  for (const history of [
    initiated,
    manual,
    eventsAfter('succeeded'),
    eventsAfter('processing'),
    apply(authorized, captures()),
  ])
    given(t, paymentFold, history).when(captures()).thenThrows('payment_not_capturable')
  given(t, paymentFold, apply(authorized, cancels())).when(captures()).thenThrows('payment_not_capturable')
  given(t, paymentFold, apply(authorized, captures())).when(cancels()).thenThrows('payment_not_cancelable')
})

t.test('a later report of what is authorized replaces the earlier one', async (t) => {
  const less = apply(authorized, notifies('processing', 20, { capturable_cents: 1000 }))
  t.match(fold(less), { capturable_cents: 1000 })
  t.match(fold(apply(authorized, snapshots('processing', 20, { capturable_cents: 1000 }))), { capturable_cents: 1000 })
})
