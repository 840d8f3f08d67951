// A sample payment, and helpers that build its events.
import { paymentFields } from '@paylog/testing/paymentFields'
import { type CallFailure, recordCallFailed } from '../calls.ts'
import type { PaymentEvent } from '../events.ts'
import { paymentFold } from '../fold.ts'
import { priceOf, recordInitiation, recordIntentCreated } from '../initiate.ts'
import { existingPayment, noPayment, type Payment, type PaymentState, type PaymentStatus } from '../payment.ts'
import { type RecordStatus, recordStatus } from '../statusReports.ts'

const paymentId = '018f0000-0000-7000-8000-000000000001'
export const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

export const paymentFixture = {
  ...paymentFields,
  payment_id: paymentId,
  occurred_at: at(0),
  provider_id: 'sandbox',
  ...priceOf({ total_cents: 2599, currency: 'eur' }),
  payer: { id: null, type: 'guest', email: 'guest@example.com' },
  guest_email: 'guest@example.com',
}

export const initiated = recordInitiation(paymentFixture, noPayment)
export const fold = (events: readonly PaymentEvent[]) => events.reduce(paymentFold.evolve, paymentFold.initialState)
export const created = recordIntentCreated(
  { occurred_at: at(1), attempt: 1, provider_intent_id: 'pi_1', client_secret: 'secret' },
  fold(initiated),
)

let nextEvent = 0
/** A command that applies a notification with this status; each has a new provider event id. */
export const notifies = (status: PaymentStatus, seconds: number, more: Partial<RecordStatus> = {}) => {
  const report = {
    status,
    provider_time: at(seconds),
    provider_event_id: `evt_${nextEvent++}`,
    provider_intent_id: 'pi_1',
    provider_payment_id: null,
    amount_cents: 2599,
    currency: 'eur',
    ...more,
  }
  return (state: PaymentState) => recordStatus({ ...report, occurred_at: at(seconds + 1) }, state)
}
/** A command that applies a snapshot with this status. */
export const snapshots = (status: PaymentStatus, seconds: number, more: Partial<RecordStatus> = {}) =>
  notifies(status, seconds, { provider_event_id: null, source: 'snapshot', ...more })
/** The payment after a command. */
export const applyTo = (payment: Payment, decide: (state: PaymentState) => readonly PaymentEvent[]): Payment =>
  existingPayment(decide(payment).reduce<PaymentState>(paymentFold.evolve, payment))
/** The events of a payment after notifications with these statuses, ten seconds apart. */
export const eventsAfter = (...statuses: PaymentStatus[]) =>
  statuses.reduce<PaymentEvent[]>(
    (events, status, index) => events.concat(notifies(status, 10 * (index + 1))(fold(events))),
    [...initiated, ...created],
  )

/** How a call fails. */
export const failures = {
  unknown: { outcome: 'unknown', error_code: null, failure_code: 'timeout', failure_message: 'no response' },
  throttled: {
    outcome: 'throttled',
    error_code: 'provider_unavailable',
    failure_code: 'rate_limit',
    failure_message: 'slow down',
  },
  unavailable: {
    outcome: 'rejected',
    error_code: 'provider_unavailable',
    failure_code: 'connection_refused',
    failure_message: 'down',
  },
  declined: {
    outcome: 'rejected',
    error_code: 'payment_declined',
    failure_code: 'card_declined',
    failure_message: 'no',
  },
} as const satisfies Record<string, CallFailure>
/** A command that records how the create call failed. */
export const createFails =
  (failure: CallFailure, attempt = 1) =>
  (state: PaymentState) =>
    recordCallFailed({ call: 'create', attempt }, { ...failure, occurred_at: at(6) }, state)
/** The events of a payment whose create call failed. */
export const afterCreateFailed = (failure: CallFailure) => [...initiated, ...createFails(failure)(fold(initiated))]
