// The operation that creates a payment's intent at its provider.
import type { PaymentEvent } from '@paylog/domain/payments/events'
import {
  recordCallThrottled,
  recordIntentCreated,
  recordIntentRejected,
  recordOutcomeUnknown,
} from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import type { ProviderIntent } from '@paylog/providers/provider'
import { enabledProvider, type Workflow } from '../context.ts'
import { providerErrorCodes } from '../providerErrors.ts'
import { isInFlight, type ProviderOperation } from '../providerOperation.ts'

/** Whether whoever began the payment's latest attempt may still be working on it. */
export function isAttemptInFlight(workflow: Workflow, { intent_outcome, attempt_started_at }: Payment): boolean {
  return intent_outcome.kind === 'open' && isInFlight(workflow, attempt_started_at)
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
      return enabledProvider(workflow, payment.provider_id).createIntent({
        payment_id,
        idempotency_key: attempt === 1 ? payment_id : `${payment_id}-${attempt}`,
        amount_cents: payment.total_cents,
        currency: payment.currency,
        description: payment.description ?? payment.concept,
        // A provider's test method is not recorded as a saved method.
        provider_method_id: provider_method?.provider_method_id ?? payment_method_id,
        provider_customer_id: provider_method?.provider_customer_id ?? null,
      })
    },
    done(intent, { state, called, occurred_at }) {
      const { attempt } = existingPayment(called)
      return recordIntentCreated({ occurred_at, attempt, ...intent }, state)
    },
    failed({ outcome, error }, { state, called, occurred_at }) {
      const { code, message, kind } = error
      const end = { occurred_at, attempt: existingPayment(called).attempt, reason: code }
      if (outcome === 'unknown' || kind === 'unknown') return recordOutcomeUnknown(end, state)
      if (outcome === 'throttled') return recordCallThrottled(end, state)
      return recordIntentRejected({ ...end, refusal: providerErrorCodes[kind], code, message }, state)
    },
  }
}
