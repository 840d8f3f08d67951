// The call that creates an intent at the provider, and the record of how it ended.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { recordIntentCreated, recordIntentRefused, recordOutcomeUnknown } from '@paylog/domain/payments/initiate'
import { existing, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { intentOwnerFold } from '@paylog/domain/provider-events/events'
import { type Handled, type Loaded, newStream } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type ProviderIntent } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'

/** @throws DomainError `provider_not_enabled` */
export function enabledProvider({ providers }: Workflow, id: string): Provider {
  const provider = providers.get(id)
  if (provider) return provider
  throw new DomainError('provider_not_enabled', 'This provider is unknown or not enabled', {
    enabled: [...providers.keys()],
  })
}

/**
 * Makes the payment's present attempt. The key is the attempt's own, so that a call which is made again, after a crash
 * or by another process, finds the same intent.
 * @returns the payment with the call's end on record
 * @throws DomainError `event_store_unavailable`, `provider_not_enabled`
 */
export async function callProvider(
  workflow: Workflow,
  known: Loaded<PaymentState>,
  metadata: EventMetadata,
): Promise<Handled<PaymentState, PaymentEvent>> {
  const payment = existing(known.state)
  const { attempt } = payment
  const record = (decide: (state: PaymentState, occurred_at: string) => PaymentEvent[]) =>
    workflow.store.handle<PaymentState, PaymentEvent>({
      stream: paymentStream(payment.payment_id),
      fold: paymentFold,
      decide: (state) => decide(state, workflow.now().toISOString()),
      metadata,
      known,
    })
  try {
    const intent = await createIntent(enabledProvider(workflow, payment.provider_id), payment)
    await ownIntent(workflow, payment, intent, metadata)
    return await record((state, occurred_at) => recordIntentCreated({ occurred_at, attempt, ...intent }, state))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { kind, code, message } = error
    return record((state, occurred_at) =>
      kind === 'unknown'
        ? recordOutcomeUnknown({ occurred_at, attempt, reason: code }, state)
        : recordIntentRefused({ occurred_at, attempt, refusal: refusals[kind], code, message }, state),
    )
  }
}

const refusals = {
  declined: 'payment_declined',
  rejected: 'provider_rejected',
  unavailable: 'provider_unavailable',
} as const

function createIntent(provider: Provider, payment: Payment): Promise<ProviderIntent> {
  const { payment_id, attempt } = payment
  return provider.createIntent({
    payment_id,
    idempotency_key: attempt === 1 ? payment_id : `${payment_id}-${attempt}`,
    amount_cents: payment.total_cents,
    currency: payment.currency,
    description: payment.description ?? payment.concept,
    payment_method_id: payment.payment_method_id,
  })
}

/**
 * Points from the intent to the payment. Recorded before the payment learns of its intent: when the provider reports
 * on an intent, its payment is then always found.
 */
async function ownIntent({ store }: Workflow, payment: Payment, intent: ProviderIntent, metadata: EventMetadata) {
  const { payment_id, provider_id } = payment
  const { provider_intent_id } = intent
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
