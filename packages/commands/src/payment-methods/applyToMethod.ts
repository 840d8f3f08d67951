// Applies a provider's payment method notifications to our saved methods.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  type PaymentMethodState,
  paymentMethodFold,
  refreshPaymentMethod,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'

type MethodContext = {
  readonly payment_method_id: string
  readonly method: LoadedState<PaymentMethodState>
  readonly metadata: EventMetadata
}

/** Attempts when the method changes while we query the provider. */
const maxAttempts = 5

/**
 * Updates the saved method that a notification concerns. Notifications arrive late, twice and out of order, so we apply the
 * provider's current state instead of the notification's content, if the provider can be queried.
 * @throws ProviderError when the query fails; DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function applyToMethod(
  workflow: Workflow,
  provider: Provider,
  notification: ProviderNotification,
  { payment_method_id, method, metadata }: MethodContext,
): Promise<void> {
  let assumed = method
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const changes = await changesOf(workflow, assumed.state, provider, notification)
    const { revision } = assumed
    const handled = await workflow.store.handle({
      stream: paymentMethodStream(payment_method_id),
      fold: paymentMethodFold,
      // The method has changed since the query: applying the older result could undo a newer change.
      decide: (_state, current) => (current === revision ? changes : []),
      metadata,
      assumed,
    })
    if (handled.events.length > 0 || handled.revision === revision) return
    assumed = handled
  }
  throw new DomainError('concurrent_modification', 'The payment method keeps changing; try again')
}

/** @throws ProviderError */
async function changesOf(
  { now }: Workflow,
  method: PaymentMethodState,
  { methods }: Provider,
  { generic_type, occurred_at: reportedAt }: ProviderNotification,
): Promise<PaymentMethodEvent[]> {
  if (method.status !== 'saved') return []
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
  return generic_type === 'payment_method.detached' && seconds(reportedAt) >= seconds(method.created_at)
    ? removal()
    : []
}
