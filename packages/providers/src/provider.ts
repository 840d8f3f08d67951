// What a payment provider does for us. Each provider is one file that fulfils this, and nothing else knows its API.
import type { Evidence } from '@paylog/domain/payments/evidence'

export type CreateIntent = {
  readonly payment_id: string
  /** The same key gives the same intent, however often the call is made. */
  readonly idempotency_key: string
  readonly amount_cents: number
  readonly currency: string
  readonly description: string | null
  readonly payment_method_id: string | null
}

export type ProviderIntent = {
  readonly provider_intent_id: string
  readonly client_secret: string | null
}

/** A notification whose signature was verified, in our words. */
export type ProviderNotification = {
  readonly provider_event_id: string
  /** The provider's own name of the type. */
  readonly provider_type: string
  /** The name of interface section 6.1, where there is one. */
  readonly generic_type: string | null
  /** The provider's time, ISO 8601. */
  readonly occurred_at: string
  readonly object_id: string | null
  readonly amount_cents: number | null
  readonly currency: string | null
  readonly status: string | null
  readonly customer_id: string | null
  readonly customer_email: string | null
  /** The payment that the notification itself names as ours; to be believed only if its intent is the payment's. */
  readonly claimed_payment_id: string | null
  /** What it says about a payment; `null` when it is about something else. */
  readonly evidence: Evidence | null
}

export type Provider = {
  readonly id: string
  /**
   * Creates the intent that a client pays with.
   * @throws ProviderError
   */
  createIntent(request: CreateIntent): Promise<ProviderIntent>
  /** Whether this is one of the provider's own method ids for trying things out, which need no record of ours. */
  isTestMethod(paymentMethodId: string): boolean
  /**
   * Checks that a notification comes from the provider and says what it means.
   * @param body the bytes as they came; any other form breaks the signature
   * @throws DomainError `invalid_signature`, or `invalid_request` for a signed body that is no notification
   */
  readNotification(request: {
    readonly body: Buffer
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly now: Date
  }): Promise<ProviderNotification>
}

export type ProviderErrorKind =
  /** The provider says no to this payment. */
  | 'declined'
  /** The provider says that the request is wrong. */
  | 'rejected'
  /** The provider was surely not reached, or did surely nothing. */
  | 'unavailable'
  /** Nobody knows whether the provider did it. */
  | 'unknown'

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider's own code, for the record. The message is for the caller, so an adapter words it itself. */
  readonly code: string

  constructor(kind: ProviderErrorKind, code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
    this.code = code
  }
}
