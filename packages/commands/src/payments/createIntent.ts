// The operation that creates a payment's intent at its provider.
import { DomainError } from '@paylog/domain/errors'
import { recordCallFailed } from '@paylog/domain/payments/calls'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { recordIntentCreated } from '@paylog/domain/payments/initiate'
import { existingPayment, openCreateOf, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { callError } from '@paylog/domain/payments/providerCall'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderIntent } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import type { ProviderOperation } from '../provider-calls/providerOperation.ts'

/** @throws DomainError `provider_not_enabled` */
export function providerOf({ providers }: Workflow, { provider_id, payment_id }: Payment): Provider {
  const provider = providers.get(provider_id)
  if (provider) return provider
  throw new DomainError('provider_not_enabled', 'The provider of this payment is no longer enabled', {
    payment_id,
    enabled: [...providers.keys()],
  })
}

/**
 * Checks before a call is recorded that it can be made.
 * @param events that record its begin; none for one that has started
 * @throws DomainError `provider_not_enabled`, `currency_not_supported` for an amount that the provider cannot express
 */
export function requireCallable(workflow: Workflow, payment: Payment, events: readonly PaymentEvent[]): void {
  for (const { type, data } of events) {
    const provider = providerOf(workflow, payment)
    if (type === 'PaymentCaptureRequested') provider.checkAmount(data.capture_cents, data.currency)
    if (type === 'RefundRequested') provider.checkAmount(data.refund_cents, data.currency)
  }
}

/**
 * The error for the caller when the intent was not created, or that is not known. Undefined also for an open call: it was
 * rejected after the payment had ended by a report, and that is not recorded.
 */
export function createError({ payment_id, create }: Payment): DomainError | undefined {
  return create.outcome === 'done' || create.outcome === 'open' ? undefined : callError(create, { payment_id })
}

/**
 * Creates the intent of the payment's current attempt. The idempotency key belongs to the attempt, so a repeated call finds
 * the same intent.
 */
export function createIntent(
  workflow: Workflow,
  payment_id: string,
): ProviderOperation<PaymentState, PaymentEvent, ProviderIntent> {
  return {
    stream: paymentStream(payment_id),
    fold: paymentFold,
    async call(state) {
      const payment = existingPayment(state)
      const { create, provider_method, payment_method_id } = payment
      return providerOf(workflow, payment).createIntent({
        payment_id,
        idempotency_key: create.attempt === 1 ? payment_id : `${payment_id}-${create.attempt}`,
        amount_cents: payment.total_cents,
        currency: payment.currency,
        description: payment.description ?? payment.concept,
        capture_method: payment.capture_method,
        return_url: payment.return_url,
        cancel_url: payment.cancel_url,
        statement_descriptor: payment.statement_descriptor,
        // A provider's test method is not recorded as a saved method.
        provider_method_id: provider_method?.provider_method_id ?? payment_method_id,
        provider_customer_id: provider_method?.provider_customer_id ?? null,
      })
    },
    started: (state) => openCreateOf(existingPayment(state)),
    done(intent, { state, stateAtCall, occurred_at }) {
      const { attempt } = existingPayment(stateAtCall).create
      return recordIntentCreated({ occurred_at, attempt, ...intent }, state)
    },
    failed(failure, { state, stateAtCall, occurred_at }) {
      const { attempt } = existingPayment(stateAtCall).create
      return recordCallFailed({ call: 'create', attempt }, { ...failure, occurred_at }, state)
    },
  }
}
