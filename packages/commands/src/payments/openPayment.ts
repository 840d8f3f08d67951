// Opens a payment: record it, create its intent at the provider, record the outcome. After a crash at any point, the record
// is enough to finish.
import type { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { keyInFlight, requireSameRequest } from '@paylog/domain/idempotentRequest'
import { paymentFold } from '@paylog/domain/payments/fold'
import { type InitiatePayment, initiatePayment, startAttempt } from '@paylog/domain/payments/initiate'
import { existingPayment, openCreateOf, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { beginOperation, finishOperation } from '../provider-calls/providerOperation.ts'
import { createError, createIntent, providerOf } from './createIntent.ts'

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
  /** The payment that an earlier request with the same Idempotency-Key may have opened; null without a key. */
  readonly earlier: { readonly payment_id: string; readonly request_fingerprint: string } | null
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
  const { earlier, metadata } = request
  const assumed = earlier && (await workflow.store.load(paymentStream(earlier.payment_id), paymentFold))
  if (assumed && assumed.state.status !== 'none') return replayPayment(workflow, request, assumed)
  const command = await request.command()
  const opened = await beginOperation(
    workflow,
    createIntent(workflow, command.payment_id),
    (state) => initiatePayment(command, state),
    { assumed: assumed ?? newStream(paymentFold), metadata },
  )
  return opened.hasStarted ? toOpenedPayment(opened) : replayPayment(workflow, request, opened)
}

/** The result for a repeated request, depending on the outcome of the latest provider call. */
async function replayPayment(
  workflow: Workflow,
  { earlier, metadata }: OpenPayment,
  assumed: LoadedState<PaymentState>,
): Promise<OpenedPayment> {
  const payment = existingPayment(assumed.state)
  const { payment_id, create, was_unknown } = payment
  requireSameRequest(payment, earlier?.request_fingerprint ?? null)
  const operation = createIntent(workflow, payment_id)
  const replayed = true
  switch (create.outcome) {
    case 'unknown':
      return { ...toOpenedPayment(assumed, { replayed }), error: undefined }
    case 'done': {
      // The payment as it was in the first response.
      const then = was_unknown
        ? assumed
        : await workflow.store.load(operation.stream, paymentFold, 'ProviderIntentCreated')
      return toOpenedPayment(then, { replayed })
    }
    case 'rejected': {
      // Checked before an attempt is recorded, because the call to a disabled provider cannot be made.
      if (create.rejection?.code === 'provider_unavailable') providerOf(workflow, payment)
      const begin = (state: PaymentState, occurred_at: string) => startAttempt({ occurred_at }, state)
      const started = await beginOperation(workflow, operation, begin, { assumed, metadata })
      if (!started.hasStarted && existingPayment(started.state).create.outcome === 'open')
        throw keyInFlight({ payment_id })
      return toOpenedPayment(started, { replayed: !started.hasStarted })
    }
    case 'throttled':
    case 'open': {
      // Canceled meanwhile, and never created.
      if (openCreateOf(payment) === null) return { ...toOpenedPayment(assumed, { replayed }), error: undefined }
      const finished = await finishOperation(workflow, operation, { assumed, metadata })
      if (!finished) throw keyInFlight({ payment_id })
      return toOpenedPayment(finished)
    }
  }
}

function toOpenedPayment(
  { state, revision, position }: LoadedState<PaymentState>,
  { replayed } = { replayed: false },
): OpenedPayment {
  if (revision === 'no_stream' || !position) throw new Error('the payment has no events')
  const payment = existingPayment(state)
  return { payment, revision, position, replayed, error: createError(payment) }
}
