// The facts that several notifications of a provider may report: the end of a subscription, and a paid invoice.
import type { ProviderNotification, ReportedFact } from './provider.ts'

/** The words of all providers for a subscription that has ended and cannot continue. */
const endedStatuses: ReadonlySet<string | null> = new Set([
  'canceled',
  'cancelled',
  'expired',
  'incomplete_expired',
  'terminated',
])

/**
 * The fact that a notification reports, if any. An invoice counts if it extends a subscription: the first one comes with the
 * subscription, whose own notification reports the activation.
 */
export function sharedFactOf(
  notification: Pick<ProviderNotification, 'generic_type' | 'object_id' | 'status' | 'subscription' | 'shared_fact'>,
): ReportedFact | null {
  const { generic_type, object_id, status, subscription, shared_fact } = notification
  if (shared_fact !== undefined) return shared_fact
  if (generic_type === 'invoice.payment_succeeded') {
    const isExtension =
      subscription === null || (subscription.subscription_id !== null && !subscription.is_first_invoice)
    return isExtension ? { kind: 'paid_invoice', id: object_id } : null
  }
  const hasEnded =
    generic_type === 'subscription.deleted' || (generic_type === 'subscription.updated' && endedStatuses.has(status))
  return hasEnded ? { kind: 'ended_subscription', id: subscription?.subscription_id ?? object_id } : null
}
