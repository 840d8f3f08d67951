// The operation that refunds a payment at its provider.
import type { EventMetadata } from '@paylog/domain/events'
import { keyInFlight, requireSameRequest } from '@paylog/domain/idempotentRequest'
import { recordCallFailed } from '@paylog/domain/payments/calls'
import type { RefundState } from '@paylog/domain/payments/charges'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { existingPayment, type PaymentState } from '@paylog/domain/payments/payment'
import { callError } from '@paylog/domain/payments/providerCall'
import { type RequestRefund, recordRefund, refundOf, requestRefund } from '@paylog/domain/payments/refunds'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { ProviderError, type RefundCharge, type ReportedRefund } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { beginOrFinish, type ProviderOperation } from '../provider-calls/providerOperation.ts'
import { refOf } from './applySnapshot.ts'
import { providerOf, requireCallable } from './createIntent.ts'

export type RefundPayment = Omit<RequestRefund, 'occurred_at'> & {
  readonly payment_id: string
  readonly metadata: EventMetadata
}

export type RefundedPayment = LoadedState<PaymentState> & {
  readonly refund: RefundState
  /** Whether an earlier request with the same Idempotency-Key made it. */
  readonly replayed: boolean
}

/**
 * Refunds a payment, or finds the refund that the same Idempotency-Key made.
 * @throws DomainError `not_found`, `forbidden` for one over the limit of its caller, `payment_not_refundable`, `refund_exceeds_payment`, `idempotency_key_reused`,
 *   `idempotency_key_in_flight`, `provider_not_enabled`, `currency_not_supported`, `provider_rejected`, `payment_declined`; `provider_unavailable` and
 *   `provider_outcome_unknown`, when the refund stays pending; `event_store_unavailable`
 */
export async function refundPayment(workflow: Workflow, request: RefundPayment): Promise<RefundedPayment> {
  const { payment_id, metadata, ...command } = request
  const { refund_id } = command
  const operation = refundCall(workflow, payment_id, refund_id)
  const assumed = await workflow.store.load(operation.stream, paymentFold)
  // Checked before the refund is recorded, because the call to a disabled provider cannot be made.
  providerOf(workflow, existingPayment(assumed.state))
  if (!refundOf(existingPayment(assumed.state), refund_id)) await checkRefund(workflow, command, assumed.state)
  const begin = (state: PaymentState, occurred_at: string) => {
    const earlier = refundOf(existingPayment(state), refund_id)
    if (earlier) requireSameRefund(earlier, command)
    const events = requestRefund({ ...command, occurred_at }, state)
    requireCallable(workflow, existingPayment(state), events)
    return events
  }
  const { madeCall, ...loaded } = await beginOrFinish(workflow, operation, begin, { assumed, metadata })
  const refund = existingRefund(loaded.state, refund_id)
  if (refund.call.outcome === 'open') throw keyInFlight({ payment_id })
  if (refund.call.outcome !== 'done') throw callError(refund.call, { payment_id, refund_id })
  return { ...loaded, refund, replayed: !madeCall }
}

/**
 * Once the payer is erased, the fingerprint is not recorded, or cannot be read any more: then the amount has to be the same. An error
 * for the same request would lead its caller to make another refund.
 * @throws DomainError `idempotency_key_reused`
 */
function requireSameRefund(
  earlier: RefundState,
  { request_fingerprint, amount_cents }: Pick<RequestRefund, 'request_fingerprint' | 'amount_cents'>,
): void {
  const isErased = earlier.request_fingerprint === null && request_fingerprint !== null
  const isSame = isErased && [undefined, earlier.amount_cents].includes(amount_cents)
  if (!isSame) requireSameRequest(earlier, request_fingerprint)
}

/** Checks at the provider what it would reject, so that no refund is recorded that cannot be made. */
async function checkRefund(
  workflow: Workflow,
  command: Omit<RequestRefund, 'occurred_at'>,
  state: PaymentState,
): Promise<void> {
  const payment = existingPayment(state)
  const provider = providerOf(workflow, payment)
  // Without its intent the payment cannot be read at the provider. The refund itself finds out.
  if (!provider.checkRefund || payment.provider_intent_id === null) return
  const started = requestRefund({ ...command, occurred_at: workflow.now().toISOString() }, state)
  await provider.checkRefund(refundRequest(started.reduce(paymentFold.evolve, state), command.refund_id, false))
}

function refundRequest(state: PaymentState, refund_id: string, is_repeated: boolean): RefundCharge {
  const payment = existingPayment(state)
  const { amount_cents, reason, provider_payment_id, created_at } = existingRefund(state, refund_id)
  if (amount_cents === null) throw new Error('a refund that we make has an amount')
  const charge = payment.charges.find((each) => each.provider_payment_id === provider_payment_id)
  return {
    ...refOf(state),
    provider_payment_id: provider_payment_id ?? payment.provider_payment_id,
    idempotency_key: refund_id,
    refund_id,
    amount_cents,
    is_whole: charge?.received_cents === amount_cents,
    reason,
    requested_at: created_at,
    is_repeated,
  }
}

function existingRefund(state: PaymentState, refund_id: string): RefundState {
  const refund = refundOf(existingPayment(state), refund_id)
  if (!refund) throw new Error('the refund is not recorded')
  return refund
}

/** The call that makes a refund which is recorded. */
export function refundCall(
  workflow: Workflow,
  payment_id: string,
  refund_id: string,
): ProviderOperation<PaymentState, PaymentEvent, ReportedRefund> {
  return {
    stream: paymentStream(payment_id),
    fold: paymentFold,
    async call(state, _metadata, is_repeated) {
      const provider = providerOf(workflow, existingPayment(state))
      if (!provider.refund) throw new ProviderError('rejected', 'not_supported', 'The provider cannot refund payments')
      return provider.refund(refundRequest(state, refund_id, is_repeated))
    },
    started: (state) => existingRefund(state, refund_id).call,
    done: (reported, { state, occurred_at }) => recordRefund({ ...reported, refund_id, occurred_at }, state),
    failed: (failure, { state, occurred_at }) =>
      recordCallFailed({ call: 'refund', refund_id }, { ...failure, occurred_at }, state),
  }
}
