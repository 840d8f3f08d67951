import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { type CallFailure, recordCallFailed } from './calls.ts'
import { receivedOf, refundedOf } from './charges.ts'
import type { PaymentEvent } from './events.ts'
import { paymentFold } from './fold.ts'
import { existingPayment, openCallsOf, type PaymentState } from './payment.ts'
import {
  type RecordRefund,
  type RequestRefund,
  recordRefund,
  recordRefundedTotal,
  refundOf,
  requestRefund,
  requireWithinLimit,
} from './refunds.ts'
import { at, created, eventsAfter, failures, fold, initiated, notifies, snapshots } from './testing/paymentFixture.ts'

const ids = ['018f0000-0000-7000-8000-0000000000f1', '018f0000-0000-7000-8000-0000000000f2'] as const
const [first, second] = ids
const requests = (refund_id: string, more: Partial<RequestRefund> = {}) => {
  const about = { reason: 'other', note: null, request_fingerprint: null, refund_limit_cents: null } as const
  return (state: PaymentState) => requestRefund({ occurred_at: at(50), refund_id, ...about, ...more }, state)
}
let reports = 0
const reported = (more: Partial<RecordRefund>) => {
  const source = { provider_time: at(60), provider_intent_id: 'pi_1', provider_payment_id: null }
  const refund = { refund_id: null, provider_refund_id: 're_1', amount_cents: 500, status: 'succeeded' } as const
  const provider_event_id = `evt_refund_${reports++}`
  return (state: PaymentState) =>
    recordRefund({ ...source, currency: 'EUR', provider_event_id, occurred_at: at(61), ...refund, ...more }, state)
}
const fails = (refund_id: string, failure: CallFailure) => (state: PaymentState) =>
  recordCallFailed({ call: 'refund', refund_id }, { ...failure, occurred_at: at(55) }, state)
/** The events of a succeeded payment of 2599 after some commands. */
const after = (...decisions: ((state: PaymentState) => PaymentEvent[])[]) =>
  decisions.reduce<PaymentEvent[]>((events, decide) => events.concat(decide(fold(events))), eventsAfter('succeeded'))
const moneyAfter = (events: readonly PaymentEvent[]) => {
  const payment = existingPayment(fold(events))
  const { status, amount_cents } = refundOf(payment, first) ?? { status: null, amount_cents: null }
  return { status, amount_cents, refunded: refundedOf(payment), open: openCallsOf(payment).length }
}

t.test('a refund reserves its amount until it fails', async (t) => {
  given(t, paymentFold, after(requests(first, { amount_cents: 2000 })))
    .when(requests(second, { amount_cents: 600 }))
    .thenThrows('refund_exceeds_payment')
  const failed = after(requests(first, { amount_cents: 2000 }), fails(first, failures.declined))
  matchList(t, requests(second)(fold(failed)), [{ type: 'RefundRequested', data: { refund_cents: 2599 } }])
})

t.test('two refunds of the whole cannot both begin', async (t) => {
  given(t, paymentFold, after(requests(first)))
    .when(requests(second))
    .thenThrows('refund_exceeds_payment')
  given(t, paymentFold, after(requests(first)))
    .when(requests(first))
    .then([])
})

t.test('a limit is for one refund, also for the rest of a payment, and only when it begins', async (t) => {
  const limited = (id: string, limit: number, more = {}) => requests(id, { refund_limit_cents: limit, ...more })
  const events = after(limited(first, 2000, { amount_cents: 2000 }))
  t.equal(events.at(-1)?.type, 'RefundRequested', 'the limit itself is allowed')
  t.equal(after(limited(first, 2599)).at(-1)?.type, 'RefundRequested')
  t.same(limited(first, 1)(fold(events)), [], 'it has begun')
  matchList(t, limited(second, 599)(fold(events)), [{ type: 'RefundRequested', data: { refund_cents: 599 } }])
  const forbidden = (limit_cents: number) => ({ code: 'forbidden', details: { right: 'refund', limit_cents } })
  t.throws(() => limited(second, 598)(fold(events)), forbidden(598), 'the rest')
  t.throws(() => limited(second, 2000, { amount_cents: 2001 })(fold(events)), forbidden(2000), 'also more than is left')
  const unreached = after(limited(first, 2000, { amount_cents: 2000 }), fails(first, failures.unavailable))
  t.throws(() => limited(first, 1999, { amount_cents: 2000 })(fold(unreached)), forbidden(1999), 'it begins again')
})

t.test('a limit is in the minor units of the currency', async (t) => {
  for (const [currency, limit_cents] of Object.entries({ EUR: 50_050, JPY: 500, KWD: 500_500, CLF: 5_005_000 })) {
    const payment = { ...existingPayment(fold(after())), currency }
    const refund = { refund_id: first, refund_limit_cents: 50_050 }
    t.doesNotThrow(() => requireWithinLimit({ ...refund, amount_cents: limit_cents }, payment), currency)
    t.throws(() => requireWithinLimit({ ...refund, amount_cents: limit_cents + 1 }, payment), {
      code: 'forbidden',
      details: { limit_cents },
    })
  }
})

t.test('a payment that received nothing cannot be refunded in any status', async (t) => {
  for (const history of [
    initiated,
    [...initiated, ...created],
    eventsAfter('failed'),
    eventsAfter('canceled'),
    eventsAfter('processing'),
  ])
    given(t, paymentFold, history).when(requests(first)).thenThrows('payment_not_refundable')
})

t.test('money in another amount, or after a cancellation, can be refunded', async (t) => {
  const short = [...eventsAfter(), ...notifies('succeeded', 20, { amount_cents: 1000 })(fold(eventsAfter()))]
  matchList(t, requests(first)(fold(short)), [{ type: 'RefundRequested', data: { refund_cents: 1000 } }])
  const late = [...eventsAfter('canceled'), ...notifies('succeeded', 20)(fold(eventsAfter('canceled')))]
  matchList(t, requests(first)(fold(late)), [{ type: 'RefundRequested', data: { refund_cents: 2599 } }])
  t.match(fold(late), { attention: [{ code: 'money_after_cancellation' }] })
})

t.test('a second charge can be refunded, and asks for attention', async (t) => {
  const charged = (charge: string) => snapshots('succeeded', 20, { provider_payment_id: charge })
  const once = [...eventsAfter(), ...charged('ch_1')(fold(eventsAfter()))]
  const twice = [...once, ...charged('ch_2')(fold(once))]
  t.match(fold(twice), { attention: [{ code: 'unrequested_charge' }] })
  t.equal(receivedOf(existingPayment(fold(twice))), 2 * 2599)
  const [one] = requests(first)(fold(twice))
  const two = requests(second)(fold([...twice, ...(one ? [one] : [])]))
  t.same(
    new Set([one, ...two].map((event) => event?.type === 'RefundRequested' && event.data.provider_payment_id)),
    new Set(['ch_1', 'ch_2']),
  )
})

t.test('a refund of ours ends with what the provider says, whichever report comes first', async (t) => {
  const requested = requests(first, { amount_cents: 500 })
  t.same(moneyAfter(after(requested)), { status: 'pending', amount_cents: 500, refunded: 0, open: 1 })
  const bySnapshot = after(requested, reported({ refund_id: first, provider_event_id: null }))
  t.same(moneyAfter(bySnapshot), { status: 'succeeded', amount_cents: 500, refunded: 500, open: 0 })
  given(t, paymentFold, bySnapshot).when(reported({})).then([])
  const pending = after(requested, reported({ refund_id: first, status: 'pending' }))
  t.same(moneyAfter(pending), { status: 'pending', amount_cents: 500, refunded: 0, open: 0 })
  const failed = [
    ...bySnapshot,
    ...reported({ status: 'failed', failure_code: 'lost_or_stolen_card' })(fold(bySnapshot)),
  ]
  t.same(moneyAfter(failed), { status: 'failed', amount_cents: 500, refunded: 0, open: 0 })
  matchList(t, failed.slice(-1), [{ type: 'RefundRecorded', data: { was_succeeded: true, refund_id: first } }])
  given(t, paymentFold, failed)
    .when(reported({ refund_id: first }))
    .then([])
})

t.test('a refund whose call has an unknown outcome stays open until the provider says', async (t) => {
  const unknown = after(requests(first), fails(first, failures.unknown))
  t.same(moneyAfter(unknown), { status: 'pending', amount_cents: 2599, refunded: 0, open: 1 })
  const done = [...unknown, ...reported({ refund_id: first, amount_cents: 2599 })(fold(unknown))]
  t.same(moneyAfter(done), { status: 'succeeded', amount_cents: 2599, refunded: 2599, open: 0 })
})

t.test('a refund whose call did not reach the provider can be requested again with its key', async (t) => {
  const history = after(requests(first, { amount_cents: 500 }), fails(first, failures.unavailable))
  t.same(moneyAfter(history), { status: 'failed', amount_cents: 500, refunded: 0, open: 0 })
  matchList(t, requests(first)(fold(history)), [{ type: 'RefundRequested', data: { refund_cents: 500 } }])
})

t.test('a refund beside a call whose outcome is unknown does not ask for attention', async (t) => {
  const unknown = after(requests(first, { amount_cents: 2000 }), fails(first, failures.unknown))
  const [beside] = reported({ amount_cents: 1000 })(fold(unknown))
  t.match(beside, { data: { attention: null } }, 'the call may be rejected')
  const known = after(
    requests(first, { amount_cents: 2000 }),
    fails(first, failures.unknown),
    reported({ amount_cents: 1000 }),
  )
  const [made] = reported({ refund_id: first, amount_cents: 2000, provider_refund_id: 're_2' })(fold(known))
  t.match(made, { data: { refund_id: first, attention: 'refund_exceeds_payment' } })
})

t.test('a refund that is reported before the success does not ask for attention', async (t) => {
  const [early] = reported({})(fold(eventsAfter('processing')))
  t.match(early, { type: 'RefundRecorded', data: { refund_cents: 500, attention: null } })
})

t.test('refunds from the dashboard count once, and more than was received asks for attention once', async (t) => {
  const history = after(reported({ amount_cents: 2000 }), reported({ provider_refund_id: 're_2', amount_cents: 600 }))
  const again = [...history, ...reported({ provider_refund_id: 're_3', amount_cents: 1 })(fold(history))]
  const payment = existingPayment(fold(again))
  t.equal(refundedOf(payment), 2601)
  t.match(payment, { status: 'succeeded', attention: [{ code: 'refund_exceeds_payment' }] })
  t.equal(payment.attention.length, 1)
  given(t, paymentFold, again).when(requests(first)).thenThrows('refund_exceeds_payment')
})

t.test('a refunded total that differs from the recorded refunds makes us ask the provider', async (t) => {
  const total =
    (amount_cents: number, currency = 'eur') =>
    (state: PaymentState) =>
      recordRefundedTotal(
        {
          occurred_at: at(70),
          provider_time: at(70),
          provider_event_id: 'evt_total',
          provider_intent_id: 'pi_1',
          provider_payment_id: null,
          amount_cents,
          currency,
        },
        state,
      )
  const history = after(reported({}))
  given(t, paymentFold, history).when(total(500)).then([])
  given(t, paymentFold, history)
    .when(total(600))
    .then([{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
  given(t, paymentFold, history)
    .when(total(500, 'usd'))
    .then([{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
})

t.test('a refund whose call was rejected has succeeded when the provider says so', async (t) => {
  const rejected = after(requests(first, { amount_cents: 500 }), fails(first, failures.declined))
  const found = [...rejected, ...reported({ refund_id: first })(fold(rejected))]
  t.same(moneyAfter(found), { status: 'succeeded', amount_cents: 500, refunded: 500, open: 0 })
})
