// The facts of a webhook message. The bodies of all modes and formats are built from them.
import type { Payer } from '@paylog/domain/payments/events'
import type { CanonicalName } from './canonicalNames.ts'
import type { AttentionFacts, DisputeFacts, RefundFacts } from './messageSchemas.ts'

/** `null` means unknown. Every text may be untrusted input. */
export type WebhookFacts = {
  readonly provider: string
  /** Time of the event, ISO 8601. */
  readonly timestamp: string
  /** Our payment id, or the provider's id of a foreign payment or invoice. */
  readonly payment_id: string | null
  /** In minor units. */
  readonly amount: number | null
  /** Upper case. */
  readonly currency: string | null
  readonly status: string | null
  /** The payer, the provider's customer, or the user who requested a test. */
  readonly user: Payer
  /** From the payment's metadata, as the payer set it. */
  readonly project_id: string | null
  /** For subscriptions and customers, if known. */
  readonly subscription_id?: string
  readonly customer_id?: string
  /** End of the paid period of a subscription, ISO 8601. */
  readonly current_period_end?: string
  /** Each only in the messages of one canonical name. */
  readonly refund?: RefundFacts
  readonly dispute?: DisputeFacts
  readonly attention?: AttentionFacts
  /** The user who may see it in the log: the payer, or the user who requested a test. Never a provider's customer. */
  readonly owner: string | null
  /** Whether it is a test or a simulation. */
  readonly is_test: boolean
}

/** The facts of one message, with the event's name as it is sent: `payment.succeeded`, `stripe:invoice.paid`. */
export type NamedFacts = WebhookFacts & { readonly event: string }

/** A canonical message, before it is built for an endpoint. */
export type CanonicalMessage = NamedFacts & { readonly event: CanonicalName }

const unknownFacts = {
  payment_id: null,
  status: null,
  user: { id: null, type: 'customer', email: null },
  project_id: null,
  owner: null,
  is_test: false,
} as const

/**
 * @param source the fields that recorded events have in common
 * @param known further facts; the others are unknown
 */
export function webhookFacts(
  source: {
    readonly provider_id: string
    readonly occurred_at: string
    readonly amount_cents: number | null
    readonly currency: string | null
  },
  known: Partial<WebhookFacts> = {},
): WebhookFacts {
  const { provider_id: provider, occurred_at: timestamp, amount_cents: amount, currency } = source
  return { ...unknownFacts, provider, timestamp, amount, currency: currency?.toUpperCase() ?? null, ...known }
}
