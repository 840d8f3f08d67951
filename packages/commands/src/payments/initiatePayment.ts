// Initiates a payment: record it, create its intent at the provider, record the outcome. After a crash at any point, the
// record is enough to finish.
import type { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { keyInFlight, requireSameRequest } from '@paylog/domain/idempotentRequest'
import { paymentFold } from '@paylog/domain/payments/fold'
import { type InitiatePayment, recordInitiation, startAttempt } from '@paylog/domain/payments/initiate'
import { existingPayment, openCreateOf, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import type { Workflow } from '../context.ts'
import { beginOperation, beginOrFinish } from '../provider-calls/providerOperation.ts'
import { createError, createIntent, providerOf } from './createIntent.ts'

export type InitiatedPayment = {
  readonly payment: Payment
  readonly revision: bigint
  /** Position of the payment's last event. */
  readonly position: LogPosition
  /** True when an earlier request with the same key initiated it. */
  readonly replayed: boolean
  /** Why the provider did not create the intent. The payment is recorded in any case. */
  readonly error: DomainError | undefined
}

type Context = {
  readonly metadata: EventMetadata
  /** What an earlier request with the same Idempotency-Key may have recorded. */
  readonly assumed: LoadedState<PaymentState>
}

/**
 * Initiates a payment, or finds the one that another request with the same Idempotency-Key initiated meanwhile.
 * @throws DomainError `event_store_unavailable`, and the errors of `replayPayment`
 */
export async function initiatePayment(
  workflow: Workflow,
  command: InitiatePayment,
  { metadata, assumed = newStream(paymentFold) }: Pick<Context, 'metadata'> & Partial<Context>,
): Promise<InitiatedPayment> {
  const operation = createIntent(workflow, command.payment_id)
  const begin = (state: PaymentState) => recordInitiation(command, state)
  const started = await beginOperation(workflow, operation, begin, { assumed, metadata })
  return started.hasStarted
    ? toInitiatedPayment(started)
    : replayPayment(workflow, command, { metadata, assumed: started })
}

/**
 * The result for a repeated request, depending on the outcome of the latest provider call.
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `provider_not_enabled`, `event_store_unavailable`
 */
export async function replayPayment(
  workflow: Workflow,
  { request_fingerprint }: Pick<InitiatePayment, 'request_fingerprint'>,
  { metadata, assumed }: Context,
): Promise<InitiatedPayment> {
  const payment = existingPayment(assumed.state)
  const { payment_id, create, was_unknown } = payment
  requireSameRequest(payment, request_fingerprint)
  const operation = createIntent(workflow, payment_id)
  const replayed = true
  // The second: canceled meanwhile, and never created.
  if (create.outcome === 'unknown' || (create.outcome === 'throttled' && !openCreateOf(payment)))
    return { ...toInitiatedPayment(assumed, { replayed }), error: undefined }
  if (create.outcome === 'done') {
    // The payment as it was in the first response.
    const then = was_unknown
      ? assumed
      : await workflow.store.load(operation.stream, paymentFold, 'ProviderIntentCreated')
    return toInitiatedPayment(then, { replayed })
  }
  // Checked before an attempt is recorded, because the call to a disabled provider cannot be made.
  if (create.rejection?.code === 'provider_unavailable') providerOf(workflow, payment)
  const begin = (state: PaymentState, occurred_at: string) => startAttempt({ occurred_at }, state)
  const { madeCall, ...ended } = await beginOrFinish(workflow, operation, begin, { assumed, metadata })
  if (!madeCall && existingPayment(ended.state).create.outcome === 'open') throw keyInFlight({ payment_id })
  return toInitiatedPayment(ended, { replayed: !madeCall })
}

function toInitiatedPayment(
  { state, revision, position }: LoadedState<PaymentState>,
  { replayed } = { replayed: false },
): InitiatedPayment {
  if (revision === 'no_stream' || !position) throw new Error('the payment has no events')
  const payment = existingPayment(state)
  return { payment, revision, position, replayed, error: createError(payment) }
}
