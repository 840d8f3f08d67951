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
import { erasedMessage, type PaymentEvent } from '@paylog/domain/payments/events'
import { recordEvidence } from '@paylog/domain/payments/evidence'
import { paymentFold } from '@paylog/domain/payments/fold'
import {
  existingPayment,
  openCall,
  openCallOf,
  type Payment,
  type PaymentState,
  type RequestedCall,
} from '@paylog/domain/payments/payment'
import type { Revision } from '@paylog/event-store/append/append'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { IntentSnapshot } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { beginOperation, finishOperation, type OperationEnd, type ProviderOperation } from '../providerOperation.ts'
import { eventsOf, refOf } from './applySnapshot.ts'
import { providerOf } from './createIntent.ts'

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
  throw payment.requested || ended.failure?.refusal === 'provider_unavailable'
    ? callError(payment, ended.failure)
    : notCancelable(payment)
}

/**
 * Captures an authorized payment.
 * @param request `amount_cents` undefined for all of it
 * @returns the payment, which has succeeded or is processed
 * @throws DomainError `not_found`, `payment_not_capturable`, `capture_exceeds_authorization`, `payment_declined`,
 *   `provider_rejected`, `provider_not_enabled`, `provider_unavailable`, `provider_outcome_unknown`,
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
  if (payment.requested || ended.failure) throw callError(payment, ended.failure)
  // Somebody else was faster, for example the merchant at the provider.
  if (payment.status === 'canceled') throw notCapturable(payment)
  return ended
}

/** Cancels a payment that nobody paid in time. @returns the payment, which has succeeded if the payer was faster */
export function expirePayment(workflow: Workflow, request: CallOnPayment): Promise<LoadedState<PaymentState>> {
  return makeCall(workflow, request, (state, occurred_at) => requestExpiry({ occurred_at }, state))
}

/** Finishes the cancel or capture call of a payment, if one is open and nobody else is making it. */
export async function finishIntentCall(
  workflow: Workflow,
  known: LoadedState<PaymentState>,
  metadata: EventMetadata,
): Promise<LoadedState<PaymentState>> {
  const operation = intentCall(workflow, existingPayment(known.state).payment_id)
  return (await finishOperation(workflow, operation, { known, metadata })) ?? known
}

type FailedCall = Extract<PaymentEvent, { type: 'ProviderCallFailed' }>['data']

/** Begins a call, or finishes the one that has begun. */
async function makeCall(
  workflow: Workflow,
  { payment_id, metadata, checkRevision }: CallOnPayment,
  begin: (state: PaymentState, occurred_at: string) => readonly PaymentEvent[],
): Promise<LoadedState<PaymentState> & { readonly failure?: FailedCall }> {
  const operation = intentCall(workflow, payment_id)
  const known = await workflow.store.load(operation.stream, paymentFold)
  const checked = (state: PaymentState, occurred_at: string, revision: Revision) => {
    const payment = existingPayment(state)
    checkRevision?.(revision)
    const events = begin(state, occurred_at)
    // Checked before the call is recorded, because one to a disabled provider cannot be made.
    if (events.length > 0) providerOf(workflow, payment)
    return events
  }
  const begun = await beginOperation(workflow, operation, checked, { known, metadata })
  const ended = begun.began ? begun : await finishOperation(workflow, operation, { known: begun, metadata })
  if (!ended) {
    if (existingPayment(begun.state).requested === null) return begun
    throw new DomainError('concurrent_modification', 'Another request is doing this; try again', { payment_id })
  }
  return withFailure(ended)
}

function withFailure(ended: LoadedState<PaymentState> & { readonly events: readonly PaymentEvent[] }) {
  const failure = ended.events.find((event) => event.type === 'ProviderCallFailed')?.data
  return { ...ended, ...(failure && { failure }) }
}

/** The error for a caller whose cancel, capture or refund call failed. */
export function callError(
  { payment_id }: Payment,
  failure: Pick<FailedCall, 'outcome' | 'refusal' | 'failure_message'> | undefined,
  details: object = {},
): DomainError {
  const about = { payment_id, ...details }
  if (!failure || failure.outcome === 'unknown') {
    const message = 'The provider did not respond; the outcome is not known yet'
    return new DomainError('provider_outcome_unknown', message, about)
  }
  if (failure.outcome === 'throttled')
    return new DomainError('provider_unavailable', 'The provider is throttling requests; try again', about)
  return new DomainError(failure.refusal ?? 'provider_rejected', failure.failure_message ?? erasedMessage, about)
}

/** The cancel or capture call that the payment has begun. */
function intentCall(workflow: Workflow, payment_id: string): IntentCall {
  return {
    stream: paymentStream(payment_id),
    fold: paymentFold,
    async call(state) {
      const payment = existingPayment(state)
      const { requested, provider_intent_id } = payment
      if (requested === null) throw new Error('no call was requested')
      const provider = providerOf(workflow, payment)
      // Nobody can pay a payment without an intent.
      if (provider_intent_id === null && !openCallOf(payment)?.mayHaveEffect) return null
      const { call, number, capture_cents } = requested
      const intent = refOf(state)
      const ref = { ...intent, idempotency_key: `${intent.provider_intent_id}-${call}-${number}` }
      if (call === 'cancel') return provider.cancelIntent(ref)
      if (!provider.captureAuthorized || capture_cents === null) throw new Error(`${provider.id} cannot capture`)
      return provider.captureAuthorized({ ...ref, amount_cents: capture_cents })
    },
    openCall(state) {
      const { requested } = existingPayment(state)
      return requested && openCall(requested.outcome, requested.requested_at)
    },
    done(snapshot, end) {
      const { state, occurred_at } = end
      const { call } = requestedIn(end)
      if (snapshot === null) return call === 'cancel' ? canceled(end) : failed(end, 'intent_not_found')
      const events = eventsOf(snapshot, state, occurred_at)
      // The provider's state was another one: the call ends without an effect.
      const isEnded = existingPayment(events.reduce(paymentFold.evolve, state)).requested === null
      return isEnded ? events : [...events, ...failed(end, `intent_${snapshot.evidence.status}`)]
    },
    failed(failure, end) {
      const { code, message } = failure.error
      const refusal = failure.outcome === 'unknown' ? null : failure.code
      const { outcome } = failure
      const { call } = requestedIn(end)
      return recordCallFailed(
        { occurred_at: end.occurred_at, call, refund_id: null, outcome, refusal, code, message },
        end.state,
      )
    },
  }
}

type End = OperationEnd<PaymentState>

function requestedIn({ called }: Pick<End, 'called'>): RequestedCall {
  const { requested } = existingPayment(called)
  if (requested === null) throw new Error('no call was requested')
  return requested
}

/** Nobody can pay a payment that has no intent at the provider. */
function canceled({ state, called, occurred_at }: End): PaymentEvent[] {
  const payment = existingPayment(state)
  const { provider_intent_id } = existingPayment(called)
  const source = { provider_time: occurred_at, provider_event_id: null, provider_intent_id, provider_payment_id: null }
  const evidence = { ...source, status: 'canceled' as const, amount_cents: null, currency: null }
  return recordEvidence({ ...evidence, occurred_at, source: 'snapshot' }, payment)
}

function failed(end: End, code: string): PaymentEvent[] {
  const { call } = requestedIn(end)
  const message = 'The provider did not do it, because the payment is in another state'
  const outcome = { outcome: 'rejected', refusal: 'provider_rejected', code, message } as const
  return recordCallFailed({ occurred_at: end.occurred_at, call, refund_id: null, ...outcome }, end.state)
}
