// Opens a payment: record the attempt, call the provider, record the outcome. After a crash at any point, the recorded
// attempt is enough to finish the call.

import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { keyInFlight, requireSameRequest } from '@paylog/domain/idempotentRequest'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { type InitiatePayment, initiatePayment, startAttempt } from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { causedBy, type HandledCommand, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { callProvider, isInFlight } from './providerCall.ts'

export type OpenedPayment = {
  readonly payment: Payment
  readonly revision: bigint
  /** Position of the payment's last event. */
  readonly position: LogPosition
  /** True when an earlier request with the same key opened it. */
  readonly replayed: boolean
  /** Why the provider did not create the intent. The payment is recorded in any case. */
  readonly error: DomainError | undefined
}

export type OpenPayment = {
  readonly payment_id: string
  /** SHA-256 of the request; null without an Idempotency-Key, when no earlier request can exist. */
  readonly request_fingerprint: string | null
  /** Validates the request and builds the command. Not called for a repeated request. */
  readonly command: () => Promise<InitiatePayment>
  readonly metadata: EventMetadata
}

/**
 * Opens a payment, or finds the one that the same Idempotency-Key opened.
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `idempotency_key_in_flight`,
 *   `event_store_unavailable`, and the errors of `command`
 */
export async function openPayment(workflow: Workflow, request: OpenPayment): Promise<OpenedPayment> {
  const { payment_id, request_fingerprint, metadata } = request
  const stream = paymentStream(payment_id)
  const known: LoadedState<PaymentState> =
    request_fingerprint === null ? newStream(paymentFold) : await workflow.store.load(stream, paymentFold)
  if (known.state.status !== 'none') return replayPayment(workflow, request, known)
  const command = await request.command()
  const initiated = await workflow.store.handle({
    stream,
    fold: paymentFold,
    decide: (state) => initiatePayment(command, state),
    metadata,
    known,
  })
  if (initiated.events.length === 0) return replayPayment(workflow, request, initiated)
  return makeCall(workflow, initiated, causedBy(initiated, metadata), 'first')
}

/** The result for a repeated request, depending on the outcome of the latest provider call. */
async function replayPayment(
  workflow: Workflow,
  { request_fingerprint, metadata }: OpenPayment,
  found: LoadedState<PaymentState>,
): Promise<OpenedPayment> {
  const payment = existingPayment(found.state)
  requireSameRequest(payment, request_fingerprint)
  const outcome = payment.intent_outcome
  switch (outcome.kind) {
    case 'unknown':
      return toOpenedPayment(found, { replayed: true })
    case 'created':
      return toOpenedPayment(payment.was_unknown ? found : await firstResponseState(workflow, payment), {
        replayed: true,
      })
    case 'rejected': {
      if (outcome.refusal === 'provider_unavailable') requireProvider(workflow, payment)
      const started = await beginAttempt(workflow, found, metadata)
      if (started.events.length > 0) return makeCall(workflow, started, causedBy(started, metadata), 'first')
      const now = existingPayment(started.state)
      if (now.intent_outcome.kind === 'open') throw keyInFlight({ payment_id: now.payment_id })
      return toOpenedPayment(started, { replayed: true, error: recordedError(now) })
    }
    case 'throttled':
      requireProvider(workflow, payment)
      return makeCall(workflow, found, metadata, 'first')
    case 'open':
      if (isInFlight(workflow, payment)) throw keyInFlight({ payment_id: payment.payment_id })
      requireProvider(workflow, payment)
      return makeCall(workflow, found, metadata, 'repeated')
  }
}

/** Checked before an attempt is recorded, because a call to a disabled provider cannot be made. */
function requireProvider({ providers }: Workflow, { provider_id, payment_id }: Payment): void {
  if (providers.has(provider_id)) return
  throw new DomainError('provider_not_enabled', 'The provider of this payment is no longer enabled', {
    payment_id,
    enabled: [...providers.keys()],
  })
}

/** Records a further attempt, if one is allowed. Of concurrent requests only one records it and makes the call. */
function beginAttempt(
  { store, now }: Workflow,
  known: LoadedState<PaymentState>,
  metadata: EventMetadata,
): Promise<HandledCommand<PaymentState, PaymentEvent>> {
  return store.handle({
    stream: paymentStream(existingPayment(known.state).payment_id),
    fold: paymentFold,
    decide: (state) => startAttempt({ occurred_at: now().toISOString() }, state),
    metadata,
    known,
  })
}

/** The payment as it was in the first response. */
function firstResponseState({ store }: Workflow, { payment_id }: Payment): Promise<LoadedState<PaymentState>> {
  return store.load(paymentStream(payment_id), paymentFold, 'ProviderIntentCreated')
}

async function makeCall(
  workflow: Workflow,
  found: LoadedState<PaymentState>,
  metadata: EventMetadata,
  call: 'first' | 'repeated',
): Promise<OpenedPayment> {
  const called = await callProvider(workflow, found, { metadata, call })
  return toOpenedPayment(called, { replayed: false, error: recordedError(existingPayment(called.state)) })
}

/** The error for the caller when the intent was not created, or the outcome is unknown. */
function recordedError({ payment_id, intent_outcome: outcome }: Payment): DomainError | undefined {
  if (outcome.kind === 'rejected') return new DomainError(outcome.refusal, outcome.message, { payment_id })
  if (outcome.kind === 'throttled')
    return new DomainError('provider_unavailable', 'The provider is throttling requests; try again', {
      payment_id,
    })
  if (outcome.kind !== 'unknown') return undefined
  return new DomainError('provider_outcome_unknown', 'The provider did not respond; the outcome is not known yet', {
    payment_id,
  })
}

function toOpenedPayment(
  { state, revision, position }: LoadedState<PaymentState>,
  { replayed, error }: { readonly replayed: boolean; readonly error?: DomainError | undefined },
): OpenedPayment {
  if (revision === 'no_stream' || !position) throw new Error('the payment has no events')
  return { payment: existingPayment(state), revision, position, replayed, error }
}
