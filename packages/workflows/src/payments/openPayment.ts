// Opening a payment: record the intention, ask the provider, record the answer. The provider is called between two
// decisions and never inside one, so that a crash at any point leaves a record from which the call can be finished.

import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { keyInFlight, requireSameRequest } from '@paylog/domain/idempotentRequest'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { type InitiatePayment, initiatePayment, startAttempt } from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { type HandledCommand, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { callProvider, isInFlight } from './providerCall.ts'

export type OpenedPayment = {
  readonly payment: Payment
  readonly revision: bigint
  /** Of the payment's last event. */
  readonly position: LogPosition
  /** True when an earlier request with the same key had opened it already. */
  readonly replayed: boolean
  /** Why the provider did not create the intent; the payment is on record all the same. */
  readonly error: DomainError | undefined
}

export type OpenPayment = {
  readonly payment_id: string
  /** SHA-256 of the request; null when the request has no Idempotency-Key, so that it is surely the first. */
  readonly request_fingerprint: string | null
  /** Builds the command for the first request; throws what is wrong with it. A repeated one is judged by its record. */
  readonly command: () => Promise<InitiatePayment>
  readonly metadata: EventMetadata
}

/**
 * Opens the payment that the command describes, or finds the one that the same Idempotency-Key opened before.
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `idempotency_key_in_flight`,
 *   `event_store_unavailable`, and what `command` throws
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
  return makeCall(workflow, initiated, metadata, 'first')
}

/** What a second request with the same key gets, depending on how the latest call ended. */
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
      if (started.events.length > 0) return makeCall(workflow, started, metadata, 'first')
      const now = existingPayment(started.state)
      if (now.intent_outcome.kind === 'open') throw keyInFlight({ payment_id: now.payment_id })
      return toOpenedPayment(started, { replayed: true, refusal: recordedError(now) })
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

/** A call to a provider that was switched off since cannot be made, and shall not be recorded as begun. */
function requireProvider({ providers }: Workflow, { provider_id, payment_id }: Payment): void {
  if (providers.has(provider_id)) return
  throw new DomainError('provider_not_enabled', 'The provider of this payment is not enabled any more', {
    payment_id,
    enabled: [...providers.keys()],
  })
}

/** Records that a further call is made, where one may be; of many requests one does, and makes it. */
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

/** The payment as it was when its first request was answered. */
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
  return toOpenedPayment(called, { replayed: false, refusal: recordedError(existingPayment(called.state)) })
}

/** What the caller is told when the provider created no intent, or when nobody knows; nothing when it did. */
function recordedError({ payment_id, intent_outcome: outcome }: Payment): DomainError | undefined {
  if (outcome.kind === 'rejected') return new DomainError(outcome.refusal, outcome.message, { payment_id })
  if (outcome.kind === 'throttled')
    return new DomainError('provider_unavailable', 'The provider gets too many requests; send this one again', {
      payment_id,
    })
  if (outcome.kind !== 'unknown') return undefined
  return new DomainError('provider_outcome_unknown', 'The provider did not answer; the outcome is being found out', {
    payment_id,
  })
}

function toOpenedPayment(
  { state, revision, position }: LoadedState<PaymentState>,
  how: { readonly replayed: boolean; readonly refusal?: DomainError | undefined },
): OpenedPayment {
  if (revision === 'no_stream' || !position) throw new Error('A payment without events')
  return { payment: existingPayment(state), revision, position, replayed: how.replayed, error: how.refusal }
}
