// The operations that cancel and capture a payment at its provider.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import {
  notCancelable,
  notCapturable,
  recordCallFailed,
  requestCancel,
  requestCapture,
  requestExpiry,
} from '@paylog/domain/payments/calls'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { existingPayment, openRequestOf, type PaymentState, type RequestedCall } from '@paylog/domain/payments/payment'
import { callError, mayHaveEffect } from '@paylog/domain/payments/providerCall'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import type { Revision } from '@paylog/event-store/append/append'
import type { HandledCommand, LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { IntentSnapshot } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { beginOrFinish, type OperationEnd, type ProviderOperation } from '../provider-calls/providerOperation.ts'
import { eventsOf, refOf } from './applySnapshot.ts'
import { providerOf, requireCallable } from './createIntent.ts'

/** The payment, and the events that recorded how the call ended. */
export type EndedCall = HandledCommand<PaymentState, PaymentEvent>

type IntentCall = ProviderOperation<PaymentState, PaymentEvent, IntentSnapshot | null>

export type CallOnPayment = {
  readonly payment_id: string
  readonly metadata: EventMetadata
  /** Rejects an unexpected revision of the payment, before anything begins. */
  readonly checkRevision?: (revision: Revision) => void
}

/**
 * Cancels a payment at its provider. Repeating it is harmless.
 * @returns the canceled payment
 * @throws DomainError `not_found`, `payment_not_cancelable`, also when the payer was faster, `provider_not_enabled`,
 *   `provider_unavailable`, `provider_outcome_unknown`: then it is canceled as soon as the provider responds;
 *   `event_store_unavailable`, and the errors of `checkRevision`
 */
export async function cancelPayment(
  workflow: Workflow,
  { reason, ...request }: CallOnPayment & { readonly reason: string | null },
): Promise<LoadedState<PaymentState>> {
  const ended = await makeCall(workflow, request, (state, occurred_at) => requestCancel({ occurred_at, reason }, state))
  const payment = existingPayment(ended.state)
  if (payment.status === 'canceled') return ended
  const { payment_id, requested } = payment
  const isTooLate = !requested || (requested.rejection && requested.rejection.code !== 'provider_unavailable')
  throw isTooLate ? notCancelable(payment) : callError(requested, { payment_id })
}

/**
 * Captures an authorized payment.
 * @param request `amount_cents` undefined for all of it
 * @returns the payment, which has succeeded or is processed
 * @throws DomainError `not_found`, `payment_not_capturable`, `capture_exceeds_authorization`, `payment_declined`,
 *   `provider_rejected`, `currency_not_supported`, `provider_not_enabled`, `provider_unavailable`, `provider_outcome_unknown`,
 *   `event_store_unavailable`, and the errors of `checkRevision`
 */
export async function capturePayment(
  workflow: Workflow,
  { amount_cents, ...request }: CallOnPayment & { readonly amount_cents: number | undefined },
): Promise<LoadedState<PaymentState>> {
  const ended = await makeCall(workflow, request, (state, occurred_at) =>
    requestCapture({ occurred_at, amount_cents }, state),
  )
  const payment = existingPayment(ended.state)
  const { payment_id, requested, status } = payment
  if (requested) throw callError(requested, { payment_id })
  // Somebody else was faster, for example the merchant at the provider.
  if (status === 'canceled') throw notCapturable(payment)
  return ended
}

/**
 * Cancels a payment that nobody paid in time.
 * @returns the payment, which has succeeded if the payer was faster, and how the call ended; no events if nothing new is known
 */
export function expirePayment(workflow: Workflow, request: CallOnPayment): Promise<EndedCall> {
  return makeCall(workflow, request, (state, occurred_at) => requestExpiry({ occurred_at }, state))
}

/** Begins a call, or finishes the one that has started. */
async function makeCall(
  workflow: Workflow,
  { payment_id, metadata, checkRevision }: CallOnPayment,
  begin: (state: PaymentState, occurred_at: string) => readonly PaymentEvent[],
): Promise<EndedCall> {
  const operation = intentCall(workflow, payment_id)
  const assumed = await workflow.store.load(operation.stream, paymentFold)
  const checked = (state: PaymentState, occurred_at: string, revision: Revision) => {
    const payment = existingPayment(state)
    checkRevision?.(revision)
    const events = begin(state, occurred_at)
    requireCallable(workflow, payment, events)
    return events
  }
  const { madeCall, ...loaded } = await beginOrFinish(workflow, operation, checked, { assumed, metadata })
  if (madeCall || openRequestOf(existingPayment(loaded.state)) === null) return loaded
  throw new DomainError('concurrent_modification', 'Another request is doing this; try again', { payment_id })
}

/** The cancel or capture call that the payment has started. */
export function intentCall(workflow: Workflow, payment_id: string): IntentCall {
  return {
    stream: paymentStream(payment_id),
    fold: paymentFold,
    async call(state) {
      const payment = existingPayment(state)
      const provider = providerOf(workflow, payment)
      // Nobody can pay a payment without an intent.
      if (payment.provider_intent_id === null && !mayHaveEffect(payment.create)) return null
      const { call, number, capture_cents } = requestedIn(state)
      const intent = refOf(state)
      const ref = { ...intent, idempotency_key: `${intent.provider_intent_id}-${call}-${number}` }
      if (call === 'cancel') return provider.cancelIntent(ref)
      if (!provider.captureAuthorized || capture_cents === null) throw new Error(`${provider.id} cannot capture`)
      return provider.captureAuthorized({ ...ref, amount_cents: capture_cents })
    },
    started: (state) => existingPayment(state).requested,
    done(snapshot, end) {
      const { state, occurred_at } = end
      const { call } = requestedIn(end.stateAtCall)
      if (snapshot === null) return call === 'cancel' ? canceled(end) : failed(end, 'intent_not_found')
      const events = eventsOf(snapshot, state, occurred_at)
      // The provider's state was another one: the call ends without an effect.
      const isEnded = openRequestOf(existingPayment(events.reduce(paymentFold.evolve, state))) === null
      return isEnded ? events : [...events, ...failed(end, `intent_${snapshot.report.status}`)]
    },
    failed(failure, { stateAtCall, state, occurred_at }) {
      const { call } = requestedIn(stateAtCall)
      return recordCallFailed({ call }, { ...failure, occurred_at }, state)
    },
  }
}

type End = OperationEnd<PaymentState>

function requestedIn(state: PaymentState): RequestedCall {
  const { requested } = existingPayment(state)
  if (requested === null) throw new Error('no call was requested')
  return requested
}

/** Nobody can pay a payment that has no intent at the provider. */
function canceled({ state, stateAtCall, occurred_at }: End): PaymentEvent[] {
  const payment = existingPayment(state)
  const { provider_intent_id } = existingPayment(stateAtCall)
  const source = { provider_time: occurred_at, provider_event_id: null, provider_intent_id, provider_payment_id: null }
  const report = { ...source, status: 'canceled' as const, amount_cents: null, currency: null }
  return recordStatus({ ...report, occurred_at, source: 'snapshot' }, payment)
}

function failed({ stateAtCall, state, occurred_at }: End, failure_code: string): PaymentEvent[] {
  const { call } = requestedIn(stateAtCall)
  const failure_message = 'The provider did not do it, because the payment is in another state'
  const failure = { outcome: 'rejected', error_code: 'provider_rejected', failure_code, failure_message } as const
  return recordCallFailed({ call }, { ...failure, occurred_at }, state)
}
