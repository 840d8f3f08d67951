// A provider's word that something happened to a payment method, and what becomes of the method of ours, if it is one.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  type PaymentMethod,
  type PaymentMethodState,
  paymentMethodFold,
  refreshPaymentMethod,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { loadMethod, paymentMethodId } from './savedMethod.ts'

const detached = 'payment_method.detached'
const methodTypes: ReadonlySet<string | null> = new Set(['payment_method.attached', 'payment_method.updated', detached])

/** How often the provider is asked again because the method has changed while it was asked. */
const maxAttempts = 5

/**
 * Notifications come late, twice and out of order, so that none is believed where the provider can be asked: what it says
 * now is taken over, whatever the notification says.
 * @returns our id of the method; null if the notification is about no method, or about none of ours
 * @throws ProviderError when the provider does not answer; DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function applyToMethod(
  workflow: Workflow,
  provider: Provider,
  notification: ProviderNotification,
  metadata: EventMetadata,
): Promise<string | null> {
  const { generic_type, object_id } = notification
  if (!methodTypes.has(generic_type) || object_id === null) return null
  const id = paymentMethodId(provider.id, object_id)
  const stream = paymentMethodStream(id)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const known = await loadMethod(workflow, id)
    if (known.state.status === 'none') return null
    const decide = await decisionFor(known.state, provider, notification)
    const handled = await workflow.store.handle({
      stream,
      fold: paymentMethodFold,
      // An answer that is older than the record could undo what a newer answer, or the owner, has done since.
      decide: (state, revision) => (revision === known.revision ? decide(workflow.now().toISOString(), state) : []),
      metadata,
      known,
    })
    if (handled.events.length > 0 || handled.revision === known.revision) return id
  }
  throw new DomainError('concurrent_modification', 'The method is being changed by others at the same time')
}

type Decision = (occurred_at: string, state: PaymentMethodState) => PaymentMethodEvent[]

const noEvents: Decision = () => []
const removed: Decision = (occurred_at, state) => removePaymentMethod({ occurred_at, by: 'provider' }, state)

/** What the notification comes to. @throws ProviderError */
async function decisionFor(
  method: PaymentMethod,
  { methods }: Provider,
  { generic_type, occurred_at: reportedAt }: ProviderNotification,
): Promise<Decision> {
  if (method.status === 'removed') return noEvents
  const { provider_method_id, provider_customer_id } = method
  if (methods?.retrieveMethod && provider_customer_id !== null) {
    const details = await methods.retrieveMethod({ provider_method_id, provider_customer_id })
    if (details === null) return removed
    return (occurred_at, state) => refreshPaymentMethod({ occurred_at, details }, state)
  }
  return generic_type === detached && !isBefore(reportedAt, method.created_at) ? removed : noEvents
}

/**
 * Whether a provider's time is before one of ours. Most providers cut their times to whole seconds, so that what they tell
 * of a method which was added in the same second before would seem to be older than the method.
 */
function isBefore(providerTime: string, ourTime: string): boolean {
  return wholeSeconds(providerTime) < wholeSeconds(ourTime)
}

function wholeSeconds(time: string): number {
  return Math.floor(Date.parse(time) / 1_000)
}
