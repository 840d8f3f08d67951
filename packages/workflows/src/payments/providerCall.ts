// The call that creates an intent at the provider, and the record of how it ended.
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
 * For so long the first caller of an attempt is taken to be still at it. It is a courtesy and no lock: a repetition beside
 * a living first request would make the same call with the same key, and one append of two is kept.
 */
const inFlightMs = 20_000

export function isInFlight({ now }: Workflow, { intent_outcome, attempt_started_at }: Payment): boolean {
  return intent_outcome.kind === 'open' && now().getTime() - Date.parse(attempt_started_at) < inFlightMs
}

/**
 * Makes the payment's present attempt. The key is the attempt's own, so that a call which is made again, after a crash
 * or by another process, finds the same intent.
 * @param options `call`: whether this is surely the attempt's first call. When a repeated one does not reach the provider,
 *   nobody knows what became of the first.
 * @returns the payment with the call's end on record
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
    // A test method of the provider's has no record of ours.
    provider_method_id: payment.provider_method?.provider_method_id ?? payment.payment_method_id,
    provider_customer_id: payment.provider_method?.provider_customer_id ?? null,
  })
}

/**
 * Points from an intent or a charge to the payment. Recorded before the payment learns of it: when the provider reports on
 * it, its payment is then always found.
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
