// The canonical webhooks that are due, by docs/webhooks.md. Shares no code with the product.

/** The fields that it reads. The judge of the campaign keeps only fields that a rule uses. */
export const readFields = [
  ...(['attention', 'status', 'payment_status', 'call', 'outcome', 'error_code'] as const),
  ...(['refund_id', 'refund_cents', 'was_succeeded', 'is_new_status'] as const),
]
type Event = {
  readonly type: string
  readonly data: { readonly [Name in (typeof readFields)[number]]?: unknown }
}

/** Name, and the payment's status with what an endpoint notes beside it: the refund, or the code for attention. */
export type DueWebhook = readonly [name: string, content: string]

/** The canonical webhooks of an event of a payment. */
export function canonicalOf({ type, data }: Event): readonly DueWebhook[] {
  const { attention, status, payment_status: paymentStatus } = data
  const noticed = (of: unknown): DueWebhook[] => (attention ? [['payment.attention', `${of} ${attention}`]] : [])
  switch (type) {
    case 'ProviderIntentCreated':
      return [['payment.created', 'pending']]
    case 'PaymentSucceeded':
      return [['payment.succeeded', 'succeeded']]
    case 'PaymentAttemptFailed':
      return [['payment.failed', 'failed']]
    case 'ProviderCallFailed': {
      const isDue = data.call === 'create' && data.outcome === 'rejected' && data.error_code !== 'provider_unavailable'
      return isDue ? [['payment.failed', 'failed']] : []
    }
    case 'PaymentCanceled':
      return [['payment.failed', 'canceled']]
    case 'RefundRecorded': {
      const isDue = data.was_succeeded ? status === 'failed' : status === 'succeeded'
      const refunded: DueWebhook = [
        'payment.refunded',
        `${paymentStatus} ${data.refund_id} ${data.refund_cents} ${status}`,
      ]
      return [...(isDue ? [refunded] : []), ...noticed(paymentStatus)]
    }
    case 'PaymentDisputeRecorded': {
      const disputed: DueWebhook = ['payment.disputed', String(paymentStatus)]
      return [...(data.is_new_status ? [disputed] : []), ...noticed(paymentStatus)]
    }
    case 'PaymentConflictDetected':
      return noticed(attention === 'money_after_cancellation' ? 'canceled' : 'succeeded')
    default:
      return noticed(null)
  }
}
