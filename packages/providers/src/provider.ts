// What a payment provider does for us. Each provider is one folder that fulfils this, and nothing else knows its API.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import type { Evidence, RecordDispute, RecordRefund, ReportSource } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { SubscriptionFacts } from '@paylog/domain/providerEvents'
import type { ProductCatalog } from './productCatalog.ts'

/**
 * A capability that a provider lacks is `null`. Unless said otherwise every call throws ProviderError, takes no longer
 * than the provider's time limit (or about a minute more when nobody waits for it, see `Urgency`), and may be made again
 * with the same key: the result is then the same.
 */
export type Provider = {
  readonly id: string
  /**
   * Whether the provider can take this amount (minor units) in this currency (upper case).
   * @throws DomainError `currency_not_supported`
   */
  checkAmount(amount_cents: number, currency: string): void
  /** Whether this is one of the provider's own method ids for trying things out, which need no record of ours. */
  isTestMethod(paymentMethodId: string): boolean

  /** Creates the intent that a client pays with. */
  createIntent(request: CreateIntent): Promise<ProviderIntent>
  /** What the provider holds to be true now; `null` when it knows no such intent. */
  readonly retrieveIntent: ((intent: IntentRef) => Promise<IntentSnapshot | null>) | null
  /** The intents that carry our payment's id, for when the answer to a create call was lost and the key is worth nothing. */
  readonly findIntents: ((paymentId: string) => Promise<readonly FoundIntent[]>) | null
  /** Sees to it that an intent can never be paid. One that cannot be canceled any more is left as it is. */
  readonly cancelIntent: ((provider_intent_id: string) => Promise<void>) | null
  /** Takes the money that the payer has approved. The snapshot says how that ended. */
  readonly captureIntent: ((request: CaptureIntent) => Promise<IntentSnapshot>) | null

  /** Prepares to save a method of a user. */
  readonly createSetupIntent: ((request: CreateSetupIntent) => Promise<ProviderSetupIntent>) | null
  /** Customers and their saved methods. */
  readonly methods: ProviderMethods | null

  /** Products and their prices; `null` where the provider keeps none, so that ours are known there by our ids. */
  readonly catalog: ProductCatalog | null

  /**
   * Refuses, before the body is there, what `verifyNotification` would refuse whatever the body is.
   * @throws DomainError `invalid_signature` when the signature is missing, malformed or too old
   */
  checkNotificationHeaders(notification: Omit<SignedNotification, 'body'>): void
  /**
   * Checks that a notification comes from the provider.
   * @throws DomainError `invalid_signature`; ProviderError when only the provider could tell and did not
   */
  verifyNotification(notification: SignedNotification): Promise<void>
  /**
   * What the text of a verified notification says by itself.
   * @param body the bytes as they came
   * @throws DomainError `invalid_request` when it is no notification
   */
  readNotification(body: Buffer): ProviderNotification
  /**
   * Adds what the text leaves out and only the provider knows. A notification about something that the provider does
   * not know (any more) comes back as it was, or without the statement that its text makes and nobody confirms.
   * @throws ProviderError also while the provider may not know of it yet
   */
  readonly completeNotification: ((notification: ProviderNotification) => Promise<ProviderNotification>) | null

  /** Ends the connections. */
  close(): Promise<void>
}

export type CreateIntent = {
  readonly payment_id: string
  /** The same key gives the same intent, however often the call is made. */
  readonly idempotency_key: string
  readonly amount_cents: number
  readonly currency: string
  readonly description: string | null
  /** The provider's id of the method to pay with, if one was chosen. */
  readonly provider_method_id: string | null
  /** Whom the method is attached to; `null` for one of nobody's, a test method for one. */
  readonly provider_customer_id: string | null
}

export type ProviderIntent = {
  readonly provider_intent_id: string
  readonly client_secret: string | null
}

export type IntentRef = {
  readonly payment_id: string
  readonly provider_intent_id: string
  readonly provider_payment_id: string | null
  /** Upper case. */
  readonly currency: string
  /** When the call that created it was begun, ISO 8601. */
  readonly created_at: string
  /** How old the answer may be, ISO 8601; now when it is left out. Several questions may share what was read since then. */
  readonly as_of?: string
}

export type FoundIntent = ProviderIntent & { readonly status: PaymentStatus }

export type CaptureIntent = IntentRef & { readonly idempotency_key: string }

export type IntentSnapshot = {
  /** `provider_event_id` is null, and `provider_time` is the provider's clock when it answered. */
  readonly evidence: Evidence
  /** Successful charges beside the one that `evidence` names: money that was taken more than once. */
  readonly further_charges: readonly string[]
  /** The payer has approved, and the money waits for us to take it. */
  readonly awaits_capture: boolean
}

export type CreateSetupIntent = {
  readonly idempotency_key: string
  /** Left out when the user has none yet. One that the provider does not know any more is left out by the adapter. */
  readonly provider_customer_id: string | null
}

export type ProviderSetupIntent = {
  readonly provider_setup_intent_id: string
  readonly client_secret: string
}

export type ProviderMethods = {
  /**
   * Makes the customer that stands for a user of ours. `null` where customers come into being with their first method.
   * @throws ProviderError
   */
  createCustomer(request: {
    readonly idempotency_key: string
    readonly user_id: string
    readonly email: string | null
    readonly name: string | null
  }): Promise<string | null>
  /**
   * Keeps what a token of the client stands for. One that is kept already is kept.
   * @throws ProviderError with the code `customerMissing` when the provider does not know the customer any more
   */
  attachMethod(request: {
    readonly idempotency_key: string
    readonly token: string
    readonly user_id: string
    /** `null` only where `createCustomer` gave none. */
    readonly provider_customer_id: string | null
  }): Promise<AttachedMethod>
  /**
   * What a token stands for, without keeping it. What the provider does not tell is `null`.
   * @param request `owner` stands for whose it will be: a token that the provider gives to everybody, for trying things
   *   out, is another method for each
   * @throws ProviderError `rejected`, also for a method that is somebody's already
   */
  readMethod(request: { readonly token: string; readonly owner: string }): Promise<ReadMethod>
  /** What the provider tells of a saved method now; `null` when the customer has it no more. */
  readonly retrieveMethod: ((method: MethodRef) => Promise<MethodDetails | null>) | null
  /** Forgets a method. One that is not there (any more) counts as forgotten. */
  detachMethod(method: MethodRef): Promise<void>
}

export type MethodRef = { readonly provider_method_id: string; readonly provider_customer_id: string }

export type ReadMethod = MethodDetails & { readonly provider_method_id: string }

export type AttachedMethod = MethodDetails & MethodRef

/** The code of a ProviderError: another customer has to be made. */
export const customerMissing = 'customer_missing'

export type SignedNotification = {
  /** The bytes as they came; any other form breaks the signature. */
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly now: Date
}

/** A notification in our words. */
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
  /** Upper case. */
  readonly currency: string | null
  /** Lower case, in the provider's words. */
  readonly status: string | null
  readonly customer_id: string | null
  readonly customer_email: string | null
  /** The payment that the notification itself names as ours; to be believed only if its intent is the payment's. */
  readonly referenced_payment_id: string | null
  /** What it says about a payment; `null` when it is about something else. */
  readonly report: ProviderReport | null
  /** Set on notifications about subscriptions and their invoices. */
  readonly subscription: SubscriptionFacts | null
}

/** Without what only the receiver adds. */
type Reported<Command> = Omit<Command, 'occurred_at' | 'is_own_intent' | 'source'>

export type ProviderReport =
  /** It is about this payment and says nothing that is kept; another notification does. */
  | ({ readonly about: 'mention' } & ReportSource)
  | ({ readonly about: 'status' } & Reported<Evidence>)
  | ({ readonly about: 'refund' } & Reported<RecordRefund>)
  | ({ readonly about: 'dispute' } & Reported<RecordDispute>)

export type ProviderErrorKind =
  /** The provider says no to this payment. */
  | 'declined'
  /** The provider says that the request is wrong. */
  | 'rejected'
  /** The provider does not take this currency or amount. */
  | 'currency'
  /** The provider was surely not reached, or did surely nothing. */
  | 'unavailable'
  /** Nobody knows whether the provider did it. */
  | 'unknown'

/** The provider turned a call away, having had too many. */
export type RateLimit = {
  /** When it takes the next one, if it says so. */
  readonly retryAfterMs: number | null
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider's own code, for the record. The message is for the caller, so an adapter words it itself. */
  readonly code: string
  /** Set on one that is `unavailable` for having had too many calls. */
  readonly rateLimit: RateLimit | null

  constructor(
    kind: ProviderErrorKind,
    code: string,
    message: string,
    options: ErrorOptions & { readonly rateLimit?: RateLimit | null } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.code = code
    this.rateLimit = options.rateLimit ?? null
  }
}
