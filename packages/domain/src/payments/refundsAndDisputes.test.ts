import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { disputeStatusOf, refundedOf } from './charges.ts'
import { type RecordDispute, recordDispute } from './disputes.ts'
import { paymentFold } from './fold.ts'
import { existingPayment, type Payment, type PaymentState } from './payment.ts'
import { type RecordRefund, recordRefund, requestRefund } from './refunds.ts'
import {
  afterCreateFailed,
  at,
  created,
  eventsAfter,
  failures,
  fold,
  initiated,
  notifies,
} from './testing/paymentFixture.ts'

const source = {
  occurred_at: at(91),
  provider_time: at(90),
  provider_intent_id: 'pi_1',
  provider_payment_id: 'ch_1',
  currency: 'eur',
}
const reportedRefund = { refund_id: null, provider_refund_id: 're_1', amount_cents: 500, status: 'succeeded' } as const
const refund: RecordRefund = { ...source, provider_event_id: 'evt_refund', ...reportedRefund }
const dispute: RecordDispute = {
  ...source,
  provider_event_id: 'evt_dispute',
  provider_dispute_id: 'dp_1',
  status: 'open',
  provider_status: 'needs_response',
  reason: 'fraudulent',
  evidence_due_by: at(1000),
  amount_cents: 2599,
}
const otherRefund = '018f0000-0000-7000-8000-0000000000f9'
const refunds = (more: Partial<RecordRefund> = {}) => {
  return (state: PaymentState) => recordRefund({ ...refund, ...more }, state)
}
const disputes = (more: Partial<RecordDispute> = {}) => {
  return (state: PaymentState) => recordDispute({ ...dispute, ...more }, state)
}
/** The fields that a refund or dispute must not change. */
const unchangedFields = ({ status, provider_payment_id, completed_at, charges, report_time }: Payment) => {
  return { status, provider_payment_id, completed_at, charges, report_time }
}

t.test('refunds and disputes are recorded in every status and do not change the payment [3-refunds]', async (t) => {
  for (const history of [
    initiated,
    eventsAfter(),
    ...(['processing', 'failed', 'succeeded', 'canceled'] as const).map((at) => eventsAfter(at)),
  ])
    for (const [decide, event] of [
      [
        refunds(),
        { type: 'RefundRecorded', data: { provider_refund_id: 're_1', refund_cents: 500, amount_cents: 2599 } },
      ],
      [
        disputes(),
        {
          type: 'PaymentDisputeRecorded',
          data: {
            provider_dispute_id: 'dp_1',
            provider_status: 'needs_response',
            status: 'open',
            disputed_cents: 2599,
          },
        },
      ],
    ] as const) {
      const state = given(t, paymentFold, history).when(decide).then([event])
      t.same(unchangedFields(existingPayment(state)), unchangedFields(existingPayment(fold(history))))
    }
})

t.test('a repeated notification of a refund or dispute records nothing', async (t) => {
  for (const decide of [
    refunds(),
    refunds({ provider_refund_id: null }),
    disputes(),
    disputes({ provider_dispute_id: null }),
  ]) {
    const history = eventsAfter('succeeded')
    given(t, paymentFold, [...history, ...decide(fold(history))])
      .when(decide)
      .then([])
  }
})

t.test('a refund is recorded once for each refund id, and each time without a refund id', async (t) => {
  const history = [...eventsAfter('succeeded'), ...refunds()(fold(eventsAfter('succeeded')))]
  const reported = (more: Partial<RecordRefund>) => refunds({ provider_event_id: 'evt_other', ...more })(fold(history))
  t.same(reported({}), [])
  t.same(reported({ amount_cents: null, provider_payment_id: null }), [])
  matchList(t, reported({ provider_refund_id: 're_2' }), [
    { type: 'RefundRecorded', data: { provider_refund_id: 're_2' } },
  ])
  matchList(t, reported({ provider_refund_id: null }), [{ type: 'RefundRecorded' }])
  const withoutId = fold([...history, ...reported({ provider_refund_id: null })])
  matchList(t, refunds({ provider_event_id: 'evt_third', provider_refund_id: null })(withoutId), [
    { type: 'RefundRecorded' },
  ])
})

t.test('a dispute is recorded again when its status changes', async (t) => {
  const history = [...eventsAfter('succeeded'), ...disputes()(fold(eventsAfter('succeeded')))]
  const reported = (more: Partial<RecordDispute>) =>
    disputes({ provider_event_id: 'evt_other', ...more })(fold(history))
  t.same(reported({}), [])
  const changed = { type: 'PaymentDisputeRecorded' } as const
  const reviewed = reported({ provider_status: 'under_review' })
  matchList(t, reviewed, [{ ...changed, data: { status: 'open', is_new_status: false } }])
  const lost = reported({ status: 'lost', provider_status: 'lost' })
  matchList(t, lost, [{ ...changed, data: { status: 'lost', is_new_status: true } }])
  t.equal(disputeStatusOf(existingPayment(fold([...history, ...lost]))), 'lost')
  t.same(recordDispute({ ...dispute, provider_event_id: 'evt_late' }, fold([...history, ...lost])), [], 'a late report')
  matchList(t, reported({ provider_dispute_id: 'dp_2' }), [changed])
  matchList(t, reported({ provider_dispute_id: null }), [changed])
})

t.test('a refund or dispute of another intent is recorded as ignored', async (t) => {
  const foreign = { provider_intent_id: 'pi_other' }
  for (const history of [[...initiated, ...created], eventsAfter('succeeded'), afterCreateFailed(failures.declined)]) {
    given(t, paymentFold, history)
      .when(refunds(foreign))
      .then([{ type: 'ProviderEventIgnored', data: { reason: 'foreign_intent', reported_status: 'refunded' } }])
    given(t, paymentFold, history)
      .when(disputes(foreign))
      .then([{ type: 'ProviderEventIgnored', data: { reason: 'foreign_intent', reported_status: 'disputed' } }])
  }
})

t.test('a refund without an intent id is recorded', async (t) => {
  given(t, paymentFold, eventsAfter('succeeded'))
    .when(refunds({ provider_intent_id: null }))
    .then([{ type: 'RefundRecorded' }])
})

t.test('a refund or dispute of a payment that does not exist is not_found', async (t) => {
  t.throws(() => refunds()({ status: 'none' }), { code: 'not_found' })
  t.throws(() => disputes()({ status: 'none' }), { code: 'not_found' })
})

t.test('an amount in another currency is kept as it was reported, and asks for attention once', async (t) => {
  const usd = { amount_cents: 5600, currency: 'usd' }
  const other = { reported_amount_cents: 5600, reported_currency: 'USD', attention: 'reported_in_other_currency' }
  const history = eventsAfter('succeeded')
  const refunded = given(t, paymentFold, history)
    .when(refunds(usd))
    .then([{ type: 'RefundRecorded', data: { refund_cents: null, ...other } }])
  const failed = refunds({ provider_event_id: 'evt_failed', status: 'failed', amount_cents: null })(refunded)
  matchList(t, failed, [{ type: 'RefundRecorded', data: { ...other, refund_cents: null, attention: null } }])
  const state = given(t, paymentFold, history)
    .when(disputes(usd))
    .then([{ type: 'PaymentDisputeRecorded', data: { disputed_cents: null, ...other } }])
  const reviewed = disputes({ ...usd, provider_event_id: 'evt_other', provider_status: 'under_review' })(state)
  matchList(t, reviewed, [{ type: 'PaymentDisputeRecorded', data: { ...other, attention: null } }])
  const [refund] = existingPayment(refunded).refunds
  t.match(refund, { amount_cents: null, reported_amount_cents: 5600, reported_currency: 'USD' })
  t.equal(refundedOf(existingPayment(refunded)), 0, 'no sum has two currencies')
  const command = { occurred_at: at(95), refund_id: otherRefund, reason: 'other', note: null } as const
  const requested = requestRefund({ ...command, request_fingerprint: null, refund_limit_cents: null }, refunded)
  matchList(t, requested, [{ type: 'RefundRequested', data: { refund_cents: 2599 } }])
})

t.test('a later report in the payment’s currency corrects the amount, also when nothing else is new', async (t) => {
  const usd = { amount_cents: 5600, currency: 'usd' }
  const history = eventsAfter('succeeded')
  const inEuro = { amount_cents: 500, currency: 'eur', provider_event_id: 'evt_corrected' }
  const corrected = { reported_amount_cents: null, reported_currency: null }
  const refunded = given(t, paymentFold, history)
    .when(refunds(usd))
    .then([{ type: 'RefundRecorded' }])
  const refund = { refund_cents: 500, status: 'succeeded', was_succeeded: true, ...corrected }
  for (const status of ['succeeded', 'pending'] as const) {
    const state = given(t, paymentFold, [...history, ...refunds(usd)(fold(history))])
      .when(refunds({ ...inEuro, status }))
      .then([{ type: 'RefundRecorded', data: refund }])
    t.equal(refundedOf(existingPayment(state)), 500)
    t.same(refunds({ ...inEuro, provider_event_id: 'evt_again' })(state), [], 'nothing is new')
  }
  t.same(refunds({ ...usd, provider_event_id: 'evt_usd_again' })(refunded), [], 'the other currency is known')
  const disputed = [...history, ...disputes(usd)(fold(history))]
  given(t, paymentFold, disputed)
    .when(disputes(inEuro))
    .then([{ type: 'PaymentDisputeRecorded', data: { disputed_cents: 500, is_new_status: false, ...corrected } }])
})

t.test('a refund that we requested keeps its amount when it is reported in another currency', async (t) => {
  const command = {
    occurred_at: at(95),
    refund_id: otherRefund,
    amount_cents: 400,
    reason: 'other',
    note: null,
  } as const
  const history = eventsAfter('succeeded')
  const requested = [
    ...history,
    ...requestRefund({ ...command, request_fingerprint: null, refund_limit_cents: null }, fold(history)),
  ]
  const usd = { refund_id: otherRefund, amount_cents: 440, currency: 'usd' }
  const reported = { reported_amount_cents: 440, reported_currency: 'USD', attention: 'reported_in_other_currency' }
  const state = given(t, paymentFold, requested)
    .when(refunds(usd))
    .then([{ type: 'RefundRecorded', data: { refund_cents: 400, ...reported } }])
  t.equal(refundedOf(existingPayment(state)), 400)
})

t.test('a report without a currency means the payment’s currency', async (t) => {
  const [event] = refunds({ currency: null })(fold(eventsAfter('succeeded')))
  t.match(event, { data: { refund_cents: 500, reported_amount_cents: null, reported_currency: null } })
})

t.test('an authorization in another currency is no amount that could be captured', async (t) => {
  const authorized = notifies('processing', 20, { amount_cents: 2599, currency: 'usd', capturable_cents: 2599 })
  given(t, paymentFold, eventsAfter())
    .when(authorized)
    .then([{ type: 'PaymentAmountMismatch', data: { reported_currency: 'USD', attention: 'amount_mismatch' } }])
})
