// The operation that creates a payment's intent at its provider.
import { DomainError } from '@paylog/domain/errors'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import {
  recordCallThrottled,
  recordIntentCreated,
  recordIntentRejected,
  recordOutcomeUnknown,
} from '@paylog/domain/payments/initiate'
import { existingPayment, openCallOf, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderIntent } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import type { ProviderOperation } from '../providerOperation.ts'

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
      const { attempt, provider_method, payment_method_id } = payment
      return providerOf(workflow, payment).createIntent({
        payment_id,
        idempotency_key: attempt === 1 ? payment_id : `${payment_id}-${attempt}`,
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
    openCall: (state) => openCallOf(existingPayment(state)),
    done(intent, { state, called, occurred_at }) {
      const { attempt } = existingPayment(called)
      return recordIntentCreated({ occurred_at, attempt, ...intent }, state)
    },
    failed(failure, { state, called, occurred_at }) {
      const { code, message } = failure.error
      const end = { occurred_at, attempt: existingPayment(called).attempt, reason: code }
      if (failure.outcome === 'unknown') return recordOutcomeUnknown(end, state)
      if (failure.outcome === 'throttled') return recordCallThrottled(end, state)
      return recordIntentRejected({ ...end, refusal: failure.code, code, message }, state)
    },
  }
}
