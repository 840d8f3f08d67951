import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { type RecordDispute, type RecordRefund, recordDispute, recordRefund } from './evidence.ts'
import { existingPayment, type Payment, type PaymentState, paymentFold } from './payment.ts'
import {
  at,
  created,
  declined,
  eventsAfter,
  fold,
  initiated,
  notifies,
  rejectedBy,
  snapshots,
} from './testing/paymentFixture.ts'

const source = {
  occurred_at: at(91),
  provider_time: at(90),
  provider_intent_id: 'pi_1',
  provider_payment_id: 'ch_1',
}
const refund: RecordRefund = { ...source, provider_event_id: 'evt_refund', refund_id: 're_1', refunded_cents: 500 }
const dispute: RecordDispute = {
  ...source,
  provider_event_id: 'evt_dispute',
  dispute_id: 'dp_1',
  dispute_status: 'needs_response',
  disputed_cents: 2599,
}
const refunds = (more: Partial<RecordRefund> = {}) => {
  return (state: PaymentState) => recordRefund({ ...refund, ...more }, state)
}
const disputes = (more: Partial<RecordDispute> = {}) => {
  return (state: PaymentState) => recordDispute({ ...dispute, ...more }, state)
}
/** What a fact beside the status adds to a payment; nothing else may change. */
const besides = ({ seen_provider_events: _seen, recorded_content: _noticed, ...rest }: Payment) => rest

t.test('refunds and disputes are recorded in every status and change none of it [3-refunds]', async (t) => {
  for (const history of [
    initiated,
    eventsAfter(),
    ...(['failed', 'succeeded', 'canceled'] as const).map((at) => eventsAfter(at)),
  ])
    for (const [decide, event] of [
      [
        refunds(),
        { type: 'PaymentRefundRecorded', data: { refund_id: 're_1', refunded_cents: 500, amount_cents: 2599 } },
      ],
      [
        disputes(),
        {
          type: 'PaymentDisputeRecorded',
          data: { dispute_id: 'dp_1', dispute_status: 'needs_response', disputed_cents: 2599 },
        },
      ],
    ] as const) {
      const state = given(t, paymentFold, history).when(decide).then([event])
      t.same(besides(existingPayment(state)), besides(existingPayment(fold(history))))
    }
})

t.test('a repeated notification of a refund or a dispute adds nothing', async (t) => {
  for (const decide of [refunds(), refunds({ refund_id: null }), disputes(), disputes({ dispute_id: null })]) {
    const history = eventsAfter('succeeded')
    given(t, paymentFold, [...history, ...decide(fold(history))])
      .when(decide)
      .then([])
  }
})

t.test('a refund of which two notifications tell is one refund; another one is another', async (t) => {
  const history = [...eventsAfter('succeeded'), ...refunds()(fold(eventsAfter('succeeded')))]
  const told = (more: Partial<RecordRefund>) => refunds({ provider_event_id: 'evt_other', ...more })(fold(history))
  t.same(told({}), [])
  t.same(told({ refunded_cents: null, provider_payment_id: null }), [])
  matchList(t, told({ refund_id: 're_2' }), [{ type: 'PaymentRefundRecorded', data: { refund_id: 're_2' } }])
  matchList(t, told({ refund_id: null }), [{ type: 'PaymentRefundRecorded' }])
  const unnamed = fold([...history, ...told({ refund_id: null })])
  matchList(t, refunds({ provider_event_id: 'evt_third', refund_id: null })(unnamed), [
    { type: 'PaymentRefundRecorded' },
  ])
})

t.test('a dispute is recorded again when it moves on', async (t) => {
  const history = [...eventsAfter('succeeded'), ...disputes()(fold(eventsAfter('succeeded')))]
  const told = (more: Partial<RecordDispute>) => disputes({ provider_event_id: 'evt_other', ...more })(fold(history))
  t.same(told({}), [])
  matchList(t, told({ dispute_status: 'lost' }), [{ type: 'PaymentDisputeRecorded', data: { dispute_status: 'lost' } }])
  matchList(t, told({ dispute_id: 'dp_2' }), [{ type: 'PaymentDisputeRecorded' }])
  matchList(t, told({ dispute_id: null }), [{ type: 'PaymentDisputeRecorded' }])
})

t.test('a refund or a dispute of another intent is recorded as ignored', async (t) => {
  const foreign = { provider_intent_id: 'pi_other' }
  for (const history of [[...initiated, ...created], eventsAfter('succeeded'), rejectedBy(declined)]) {
    given(t, paymentFold, history)
      .when(refunds(foreign))
      .then([{ type: 'ProviderEventIgnored', data: { reason: 'foreign_intent', reported_status: 'refunded' } }])
    given(t, paymentFold, history)
      .when(disputes(foreign))
      .then([{ type: 'ProviderEventIgnored', data: { reason: 'foreign_intent', reported_status: 'disputed' } }])
  }
})

t.test(
  'a refund by the charge alone is believed, and so is one of our own intent that became known late',
  async (t) => {
    given(t, paymentFold, eventsAfter('succeeded'))
      .when(refunds({ provider_intent_id: null }))
      .then([{ type: 'PaymentRefundRecorded' }])
    given(t, paymentFold, rejectedBy(declined))
      .when(refunds({ is_own_intent: true }))
      .then([{ type: 'PaymentRefundRecorded' }])
  },
)

t.test('neither of them is evidence: they make nothing stale and name no charge', async (t) => {
  const history = eventsAfter('processing')
  const state = fold([...history, ...refunds()(fold(history)), ...disputes()(fold(history))])
  matchList(t, notifies('failed', 20)(state), [{ type: 'PaymentAttemptFailed' }])
  t.match(state, { provider_payment_id: null, evidence_time: at(10) })
  matchList(t, snapshots('succeeded', 20, { provider_payment_id: 'ch_2' })(state), [{ type: 'PaymentSucceeded' }])
})

t.test('nothing goes back from a payment that is not there', async (t) => {
  t.throws(() => refunds()({ status: 'none' }), { code: 'not_found' })
  t.throws(() => disputes()({ status: 'none' }), { code: 'not_found' })
})
