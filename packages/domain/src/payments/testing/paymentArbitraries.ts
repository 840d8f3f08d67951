// fast-check arbitraries for random payment histories.
import fc from 'fast-check'
import { DomainError } from '../../errors.ts'
import { type NamedCall, recordCallFailed, requestCancel, requestCapture } from '../calls.ts'
import { recordDispute } from '../disputes.ts'
import type { PaymentEvent } from '../events.ts'
import { recordIntentCreated, startAttempt } from '../initiate.ts'
import type { PaymentState, PaymentStatus } from '../payment.ts'
import { recordRefund, requestRefund } from '../refunds.ts'
import type { RecordStatus } from '../statusReports.ts'
import { at, failures, fold, initiated, notifies } from './paymentFixture.ts'

export type PaymentStep = {
  /** The status that this step reports; `rejected` for a rejected create call. */
  readonly reports: PaymentStatus | 'rejected' | 'nothing'
  readonly decide: (state: PaymentState) => PaymentEvent[]
}

const seconds = fc.integer({ min: 0, max: 30 })
const ids = fc.record({
  provider_event_id: fc.constantFrom('evt_a', 'evt_b', 'evt_c', 'evt_d', 'evt_e', 'evt_f'),
  provider_intent_id: fc.constantFrom('pi_1', 'pi_1', 'pi_1', 'pi_other', null),
  provider_payment_id: fc.constantFrom('ch_1', 'ch_2', null),
})
const report = fc.record({
  status: fc.constantFrom<PaymentStatus>('pending', 'processing', 'succeeded', 'failed', 'canceled'),
  seconds,
  ids,
  amount_cents: fc.constantFrom(2599, 2599, 2599, 1, null),
  currency: fc.constantFrom('eur', 'EUR', 'usd', null),
  source: fc.constantFrom<NonNullable<RecordStatus['source']>>('notification', 'queryable_notification', 'snapshot'),
})
const attempt = fc.integer({ min: 1, max: 2 })

const reported: fc.Arbitrary<PaymentStep> = report.map(({ status, seconds, ids, amount_cents, currency, source }) => ({
  reports: status,
  decide: notifies(status, seconds, {
    ...ids,
    amount_cents,
    currency,
    source,
    ...(status === 'processing' && amount_cents !== null && { capturable_cents: amount_cents }),
    ...(source === 'snapshot' && { provider_event_id: null }),
  }),
}))
const call = <Command extends object>(
  reports: PaymentStep['reports'],
  decide: (command: Command & { occurred_at: string }, state: PaymentState) => PaymentEvent[],
  command: fc.Arbitrary<Command>,
): fc.Arbitrary<PaymentStep> =>
  fc.tuple(seconds, command).map(([seconds, fields]) => ({
    reports,
    decide: (state) => decide({ ...fields, occurred_at: at(seconds) }, state),
  }))
const receivedReport = ids.map((fields) => ({ ...fields, provider_time: at(5) }))
const refundIds = ['018f0000-0000-7000-8000-0000000000f1', '018f0000-0000-7000-8000-0000000000f2'] as const
const refund = fc.record({
  refund_id: fc.constantFrom(null, ...refundIds),
  provider_refund_id: fc.constantFrom('re_1', 're_2', null),
  amount_cents: fc.constantFrom(5, 100, null),
  currency: fc.constantFrom('EUR', 'usd', null),
  status: fc.constantFrom('pending' as const, 'succeeded' as const, 'failed' as const),
})
const dispute = fc.record({
  provider_dispute_id: fc.constantFrom('dp_1', 'dp_2', null),
  status: fc.constantFrom('open' as const, 'won' as const, 'lost' as const),
  provider_status: fc.constantFrom('needs_response', 'under_review', 'done'),
  reason: fc.constant('fraudulent'),
  evidence_due_by: fc.constant(null),
  amount_cents: fc.constantFrom(5, null),
  currency: fc.constantFrom('EUR', 'usd', null),
})
const named: fc.Arbitrary<NamedCall> = fc.oneof(
  { weight: 3, arbitrary: attempt.map((number) => ({ call: 'create' as const, attempt: number })) },
  fc.record({ call: fc.constantFrom('cancel' as const, 'capture' as const) }),
  fc.record({ call: fc.constant('refund' as const), refund_id: fc.constantFrom(...refundIds) }),
)
const failedCall = fc.tuple(seconds, named, fc.constantFrom(...Object.values(failures))).map(
  ([seconds, named, failure]): PaymentStep => ({
    reports: named.call === 'create' && failure.outcome === 'rejected' ? 'rejected' : 'nothing',
    decide: (state) => recordCallFailed(named, { ...failure, occurred_at: at(seconds) }, state),
  }),
)

/** A command that the payment's state does not allow records nothing. */
const ifAllowed =
  <Command>(decide: (command: Command, state: PaymentState) => PaymentEvent[]) =>
  (command: Command, state: PaymentState): PaymentEvent[] => {
    try {
      return decide(command, state)
    } catch (error) {
      if (error instanceof DomainError) return []
      throw error
    }
  }

/** One step; its time may be earlier than that of the step before. */
export const paymentSteps: fc.Arbitrary<PaymentStep> = fc.oneof(
  { weight: 6, arbitrary: reported },
  call(
    'nothing',
    recordIntentCreated,
    fc.record({
      attempt,
      provider_intent_id: fc.constant('pi_1'),
      client_secret: fc.constantFrom('cs_1', null),
      redirect_url: fc.constantFrom('https://pay.example.com/1', null),
    }),
  ),
  { weight: 3, arbitrary: failedCall },
  call('nothing', startAttempt, fc.constant({})),
  call('nothing', ifAllowed(requestCancel), fc.constant({ reason: null })),
  call('nothing', ifAllowed(requestCapture), fc.record({ amount_cents: fc.constantFrom(undefined, 5) })),
  call(
    'nothing',
    ifAllowed(requestRefund),
    fc.record({
      refund_id: fc.constantFrom(...refundIds),
      amount_cents: fc.constantFrom(undefined, 5, 100),
      reason: fc.constant('other' as const),
      note: fc.constant(null),
      request_fingerprint: fc.constant(null),
      refund_limit_cents: fc.constant(null),
    }),
  ),
  call(
    'nothing',
    recordRefund,
    fc.record({ report: receivedReport, refund }).map(({ report, refund }) => ({ ...report, ...refund })),
  ),
  call(
    'nothing',
    recordDispute,
    fc.record({ report: receivedReport, dispute }).map(({ report, dispute }) => ({ ...report, ...dispute })),
  ),
)

/** The events of `count` payments; the same ones for the same seed. */
export function randomStreams(count: number, seed: number): PaymentEvent[][] {
  const runs = fc.sample(fc.array(paymentSteps, { minLength: 3, maxLength: 20 }), { numRuns: count, seed })
  return runs.map((steps) =>
    steps.reduce<PaymentEvent[]>((events, { decide }) => events.concat(decide(fold(events))), [...initiated]),
  )
}
