// Creates an intent at the provider and records the outcome.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import {
  recordCallThrottled,
  recordIntentCreated,
  recordIntentRejected,
  recordOutcomeUnknown,
} from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { intentOwnerFold } from '@paylog/domain/providerEvents'
import { type HandledCommand, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type ProviderIntent } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { providerErrorCodes } from '../providerErrors.ts'

/** @throws DomainError `provider_not_enabled` */
export function enabledProvider({ providers }: Workflow, id: string): Provider {
  const provider = providers.get(id)
  if (provider) return provider
  throw new DomainError('provider_not_enabled', 'This provider is unknown or not enabled', {
    enabled: [...providers.keys()],
  })
}

/**
 * How long we assume the first caller is still working on an attempt. This is an optimization, not a lock: a second caller
 * would make the same call with the same key, and only one of the two appends succeeds.
 */
const inFlightMs = 20_000

export function isInFlight({ now }: Workflow, { intent_outcome, attempt_started_at }: Payment): boolean {
  return intent_outcome.kind === 'open' && now().getTime() - Date.parse(attempt_started_at) < inFlightMs
}

/**
 * Makes the provider call of the payment's current attempt. The idempotency key belongs to the attempt, so a repeated call
 * finds the same intent.
 * @param options `call` is `first` only if no earlier call of this attempt can have reached the provider. When a `repeated`
 *   call fails to reach it, the outcome of the first call is still unknown.
 * @returns the payment with the outcome recorded
 * @throws DomainError `event_store_unavailable`, `provider_not_enabled`
 */
export async function callProvider(
  workflow: Workflow,
  known: LoadedState<PaymentState>,
  { metadata, call }: { readonly metadata: EventMetadata; readonly call: 'first' | 'repeated' },
): Promise<HandledCommand<PaymentState, PaymentEvent>> {
  const payment = existingPayment(known.state)
  const { attempt } = payment
  const record = (decide: (state: PaymentState, occurred_at: string) => PaymentEvent[]) =>
    workflow.store.handle({
      stream: paymentStream(payment.payment_id),
      fold: paymentFold,
      decide: (state) => decide(state, workflow.now().toISOString()),
      metadata,
      known,
    })
  try {
    const intent = await createIntent(enabledProvider(workflow, payment.provider_id), payment)
    await recordIntentOwner(workflow, payment, intent.provider_intent_id, metadata)
    return await record((state, occurred_at) => recordIntentCreated({ occurred_at, attempt, ...intent }, state))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { kind, code, message, rateLimit } = error
    return record((state, occurred_at) => {
      const end = { occurred_at, attempt, reason: code }
      if (kind === 'unknown' || (kind === 'unavailable' && call === 'repeated')) return recordOutcomeUnknown(end, state)
      if (rateLimit !== null) return recordCallThrottled(end, state)
      return recordIntentRejected({ occurred_at, attempt, refusal: providerErrorCodes[kind], code, message }, state)
    })
  }
}

function createIntent(provider: Provider, payment: Payment): Promise<ProviderIntent> {
  const { payment_id, attempt } = payment
  return provider.createIntent({
    payment_id,
    idempotency_key: attempt === 1 ? payment_id : `${payment_id}-${attempt}`,
    amount_cents: payment.total_cents,
    currency: payment.currency,
    description: payment.description ?? payment.concept,
    // A provider's test method is not recorded as a saved method.
    provider_method_id: payment.provider_method?.provider_method_id ?? payment.payment_method_id,
    provider_customer_id: payment.provider_method?.provider_customer_id ?? null,
  })
}

/**
 * Records which payment an intent or a charge belongs to. Called before the payment itself records it, so that a
 * notification about it always finds the payment.
 */
export async function recordIntentOwner(
  { store }: Workflow,
  { payment_id, provider_id }: Payment,
  provider_intent_id: string,
  metadata: EventMetadata,
): Promise<void> {
  await store.handle({
    stream: providerIntentStream(provider_id, provider_intent_id),
    fold: intentOwnerFold,
    decide: (owner) =>
      owner === null
        ? [{ type: 'ProviderIntentOwned' as const, data: { payment_id, provider_id, provider_intent_id } }]
        : [],
    metadata,
    known: newStream(intentOwnerFold),
  })
}
