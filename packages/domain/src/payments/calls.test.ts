import { given } from '@paylog/testing/assertions'
import t from 'tap'
import {
  type CallFailure,
  type NamedCall,
  recordCallFailed,
  requestCancel,
  requestCapture,
  requestExpiry,
} from './calls.ts'
import { receivedOf } from './charges.ts'
import type { PaymentEvent } from './events.ts'
import { paymentFold } from './fold.ts'
import { recordInitiation, recordIntentCreated } from './initiate.ts'
import { existingPayment, noPayment, openCallsOf, type PaymentState } from './payment.ts'
import { requestRefund } from './refunds.ts'
import {
  afterCreateFailed,
  at,
  eventsAfter,
  failures,
  fold,
  initiated,
  notifies,
  paymentFixture,
  snapshots,
} from './testing/paymentFixture.ts'

const cancels =
  (reason: string | null = null) =>
  (state: PaymentState) =>
    requestCancel({ occurred_at: at(50), reason }, state)
const captures = (amount_cents?: number) => (state: PaymentState) =>
  requestCapture({ occurred_at: at(50), amount_cents }, state)
const refund_id = '018f0000-0000-7000-8000-0000000000f1'
const refunds = (state: PaymentState) =>
  requestRefund(
    {
      occurred_at: at(50),
      refund_id,
      reason: 'other',
      note: null,
      request_fingerprint: null,
      refund_limit_cents: null,
    },
    state,
  )
const fails = (named: NamedCall, failure: CallFailure) => (state: PaymentState) =>
  recordCallFailed(named, { ...failure, occurred_at: at(55) }, state)
const apply = (events: readonly PaymentEvent[], ...decisions: ((state: PaymentState) => PaymentEvent[])[]) =>
  decisions.reduce<PaymentEvent[]>((all, decide) => all.concat(decide(fold(all))), [...events])
const opened = (more: object) => {
  const first = recordInitiation({ ...paymentFixture, ...more }, noPayment)
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
  const approved = apply(eventsAfter(), notifies('processing', 10, { awaits_capture: true }))
  given(t, paymentFold, approved)
    .when(cancels())
    .then([{ type: 'PaymentCancelRequested' }])
})

t.test('a payment that has succeeded, is processed, or has no intent cannot be canceled', async (t) => {
  const charged = apply(eventsAfter(), notifies('processing', 10, { provider_payment_id: 'ch_1' }))
  const processed = eventsAfter('processing')
  const captured = apply(
    eventsAfter(),
    notifies('processing', 10, { awaits_capture: true }),
    snapshots('processing', 20, { awaits_capture: false }),
  )
  for (const history of [eventsAfter('succeeded'), charged, processed, captured, afterCreateFailed(failures.declined)])
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

/** The failures that say more than what is known of a call. */
const recorded = {
  open: ['unknown', 'throttled', 'unavailable', 'declined'],
  throttled: ['unknown', 'declined'],
  unknown: ['declined'],
  unavailable: [],
  declined: [],
} as const
/** Each call, after it started. */
const started = [
  { named: { call: 'create', attempt: 1 }, history: initiated },
  { named: { call: 'cancel' }, history: apply(eventsAfter(), cancels()) },
  { named: { call: 'capture' }, history: apply(authorized, captures()) },
  { named: { call: 'refund', refund_id }, history: apply(eventsAfter('succeeded'), refunds) },
] as const

t.test('a failed call is recorded when that says more than what is known of the call', async (t) => {
  for (const { named, history } of started)
    for (const known of Object.keys(recorded) as (keyof typeof recorded)[]) {
      const events = known === 'open' ? history : apply(history, fails(named, failures[known]))
      const isOpen = known !== 'declined' && known !== 'unavailable'
      t.equal(openCallsOf(existingPayment(fold(events))).length, isOpen ? 1 : 0, `${named.call} ${known}`)
      // Another process may have called for the same attempt. Nobody gets an intent of it that could be paid twice.
      const isCreate = named.call === 'create' && known === 'unavailable'
      const expected: readonly string[] = isCreate ? ['unknown', 'declined'] : recorded[known]
      for (const [name, failure] of Object.entries(failures)) {
        const more = fails(named, failure)(fold(events))
        const isRecorded = more.some(({ type }) => type === 'ProviderCallFailed')
        t.equal(isRecorded, expected.includes(name), `${named.call}: ${name} after ${known}`)
      }
    }
})

t.test('a failure of a call that has not started, or has been done, is not recorded', async (t) => {
  const done = [
    { named: started[0].named, history: eventsAfter() },
    { named: started[1].named, history: apply(started[1].history, snapshots('canceled', 60)) },
    { named: started[2].named, history: apply(started[2].history, snapshots('succeeded', 60)) },
    { named: started[3].named, history: eventsAfter('succeeded') },
    { named: started[2].named, history: started[1].history },
  ]
  for (const { named, history } of done)
    for (const failure of Object.values(failures)) given(t, paymentFold, history).when(fails(named, failure)).then([])
})

t.test('a cancellation that was rejected can be requested again, with another number', async (t) => {
  const rejected = apply(started[1].history, fails({ call: 'cancel' }, failures.declined))
  t.match(fold(rejected), { requested: { call: 'cancel', number: 1, outcome: 'rejected' } })
  t.match(fold(apply(rejected, cancels())), { requested: { call: 'cancel', number: 2, outcome: 'open' } })
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
