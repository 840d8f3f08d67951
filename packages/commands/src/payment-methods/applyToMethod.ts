// Applies a provider's payment method notifications to our saved methods.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  type PaymentMethod,
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

/** Attempts when the method changes while we query the provider. */
const maxAttempts = 5

/** Our id of the method that a notification is about, whether or not we saved it; null if it is about none. */
export function notifiedMethodId(provider: Provider, { generic_type, object_id }: ProviderNotification): string | null {
  return methodTypes.has(generic_type) && object_id !== null ? paymentMethodId(provider.id, object_id) : null
}

/**
 * Updates the saved method that a notification concerns. Notifications arrive late, twice and out of order, so we apply the
 * provider's current state instead of the notification's content, if the provider can be queried.
 * @returns our id of the method; null if the notification concerns none of our methods
 * @throws ProviderError when the query fails; DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function applyToMethod(
  workflow: Workflow,
  provider: Provider,
  notification: ProviderNotification,
  metadata: EventMetadata,
): Promise<string | null> {
  const id = notifiedMethodId(provider, notification)
  if (id === null) return null
  const stream = paymentMethodStream(id)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const assumed = await loadMethod(workflow, id)
    if (assumed.state.status === 'none') return null
    const changes = await changesOf(workflow, assumed.state, provider, notification)
    const handled = await workflow.store.handle({
      stream,
      fold: paymentMethodFold,
      // The method has changed since the query: applying the older result could undo a newer change.
      decide: (_state, revision) => (revision === assumed.revision ? changes : []),
      metadata,
      assumed,
    })
    if (handled.events.length > 0 || handled.revision === assumed.revision) return id
  }
  throw new DomainError('concurrent_modification', 'The payment method keeps changing; try again')
}

/** @throws ProviderError */
async function changesOf(
  { now }: Workflow,
  method: PaymentMethod,
  { methods }: Provider,
  { generic_type, occurred_at: reportedAt }: ProviderNotification,
): Promise<PaymentMethodEvent[]> {
  if (method.status === 'removed') return []
  const { provider_method_id, provider_customer_id } = method
  const removal = () => removePaymentMethod({ occurred_at: now().toISOString(), by: 'provider' }, method)
  if (methods?.retrieveMethod && provider_customer_id !== null) {
    const details = await methods.retrieveMethod({ provider_method_id, provider_customer_id })
    if (details === null) return removal()
    return refreshPaymentMethod({ occurred_at: now().toISOString(), details }, method)
  }
  // Compares whole seconds, because most providers truncate their times: a notification from the second in which the method
  // was added would otherwise look older than the method.
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1_000)
  return generic_type === detached && seconds(reportedAt) >= seconds(method.created_at) ? removal() : []
}
