// The interface that every payment provider implements. Only a provider's own folder depends on its API.
import type { RecordDispute } from '@paylog/domain/payments/disputes'
import type { CaptureMethod, RefundReason } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { RecordRefund } from '@paylog/domain/payments/refunds'
import type { ReportedMoney } from '@paylog/domain/payments/reportedMoney'
import type { ReceivedReport, ReportSource, StatusReport } from '@paylog/domain/payments/statusReports'
import type { SharedFactKind, SubscriptionFacts } from '@paylog/domain/providerEvents'
import type { HostedPage } from './hostedPage.ts'
import type { ProductCatalog } from './productCatalog.ts'
import type { ProviderMethods } from './providerMethods.ts'

/**
 * A capability that a provider lacks is `null`. Unless noted otherwise every call throws ProviderError, ends within the
 * provider's time limit (plus about a minute for background calls, see `CallPriority`), and returns the same result
 * when repeated with the same key.
 */
export type Provider = {
  readonly id: string
  /**
   * Checks whether the provider accepts this amount (minor units) in this currency (upper case).
   * @throws DomainError `currency_not_supported`
   */
  checkAmount(amount_cents: number, currency: string): void
  /** Whether this is one of the provider's predefined test methods, which need no saved method of ours. */
  isTestMethod(paymentMethodId: string): boolean

  /**
   * A new payment id for this provider, where it has no room for a whole id and has to lead back to one by a part of it;
   * `null` where any UUID will do.
   */
  readonly newPaymentId: (() => string) | null

  /** Creates the intent that a client pays with. */
  createIntent(request: CreateIntent): Promise<ProviderIntent>
  /** The intent's current state; `null` when the provider does not know it. */
  readonly retrieveIntent: ((intent: IntentRef) => Promise<IntentSnapshot | null>) | null
  /** Finds the intents of a payment, for when the response to the create call was lost and the key has expired. */
  readonly findIntents: ((paymentId: string) => Promise<readonly FoundIntent[]>) | null
  /**
   * The id of the payment that an intent or one of its charges was created for, as the provider has it. `null` when the
   * provider does not know them, or when they name no payment: then they are somebody else's.
   */
  findPaymentId(of: ProviderIds): Promise<string | null>
  /**
   * Cancels an intent so that it can never be paid, and releases what is authorized. Where a provider cannot do that, the
   * intent lapses, and nothing is captured of it.
   * @returns `canceled`, or the snapshot of an intent that can no longer be canceled; `null` when the provider does not
   *   know it
   */
  cancelIntent(request: IntentRef & WithKey): Promise<IntentSnapshot | null>
  /** Takes the money that the payer has approved, or authorizes it if the payment's capture is manual. */
  readonly captureIntent: ((request: IntentRef & WithKey) => Promise<IntentSnapshot>) | null
  /** Captures money that is authorized, and releases the rest. `null` where payments cannot be authorized first. */
  readonly captureAuthorized: ((request: CaptureAuthorized) => Promise<IntentSnapshot>) | null
  /**
   * Checks, before a refund is recorded, what the provider would reject. Absent where there is nothing to check.
   * @throws DomainError `payment_not_refundable`
   */
  readonly checkRefund?: (request: RefundCharge) => Promise<void>
  /** Gives money back. The result may still be pending. A refund that the provider declines is a ProviderError. */
  readonly refund: ((request: RefundCharge) => Promise<ReportedRefund>) | null
  /** Whether the page of an unpaid intent expires, so that the payer needs another intent. */
  readonly pagesExpire: boolean

  /** The provider's hosted form, to which our page posts the client secret; absent where clients need no such page. */
  readonly hostedFormUrl?: string
  /** The page that we serve for a provider without a network. */
  readonly hostedPage?: HostedPage

  /** Prepares saving a payment method. */
  readonly createSetupIntent: ((request: CreateSetupIntent) => Promise<ProviderSetupIntent>) | null
  /** Customers and their saved methods. */
  readonly methods: ProviderMethods | null

  /** The provider's clock; `null` for one that runs in this process. @throws ProviderError */
  readonly readTime: (() => Promise<Date>) | null

  /** `null` when the provider stores no products. */
  readonly catalog: ProductCatalog | null

  /**
   * Rejects a notification with invalid headers before its body is read.
   * @throws DomainError `invalid_signature` when the signature is missing, malformed or too old
   */
  checkNotificationHeaders(notification: Omit<SignedNotification, 'body'>): void
  /**
   * Checks that a notification comes from the provider.
   * @throws DomainError `invalid_signature`; ProviderError when the provider verifies it and does not respond
   */
  verifyNotification(notification: SignedNotification): Promise<void>
  /**
   * Parses a verified notification, without calling the provider.
   * @param body the bytes as received
   * @throws DomainError `invalid_request`
   */
  readNotification(body: Buffer): ProviderNotification
  /**
   * Fetches the facts that a notification about a payment lacks; not called when `referenced_payment_id` is one of our
   * payments. When the provider does not know the object, the result is the notification unchanged, or without its
   * unconfirmed report.
   * @throws ProviderError, also while the provider may not know the object yet
   */
  readonly completeNotification: ((notification: ProviderNotification) => Promise<ProviderNotification>) | null

  /**
   * How long work from a queue has to wait before it calls the provider, which throttled calls of the current priority, in
   * ms. Absent where calls are never throttled.
   */
  readonly pausedMs?: () => number
  /** Closes the connections. */
  close(): Promise<void>
}

export type CreateIntent = {
  readonly payment_id: string
  /** Repeating the call with the same key returns the same intent. */
  readonly idempotency_key: string
  readonly amount_cents: number
  readonly currency: string
  readonly description: string | null
  readonly capture_method: CaptureMethod
  /** Where the provider's page sends the payer afterwards; `null` for the provider's default. */
  readonly return_url: string | null
  readonly cancel_url: string | null
  readonly statement_descriptor: string | null
  /** The provider's id of the chosen payment method. */
  readonly provider_method_id: string | null
  /** The customer that the method is attached to; `null` for an unattached one, such as a test method. */
  readonly provider_customer_id: string | null
}

export type ProviderIntent = {
  readonly provider_intent_id: string
  readonly client_secret: string | null
  /** The page where the payer pays, if there is one. */
  readonly redirect_url?: string | null
}

export type IntentRef = {
  readonly payment_id: string
  readonly provider_intent_id: string
  readonly provider_payment_id: string | null
  /** Upper case. */
  readonly currency: string
  readonly capture_method: CaptureMethod
  /** When the create call started, ISO 8601. */
  readonly created_at: string
  /** Data read since this time may be reused, ISO 8601; default: now. Lets several queries share what was read. */
  readonly as_of?: string
}

/** An intent, one of its charges, or both. */
export type ProviderIds = Pick<ReportSource, 'provider_intent_id' | 'provider_payment_id'>

export type FoundIntent = ProviderIntent & { readonly status: PaymentStatus }

/** Repeating the call with the same key has no further effect. */
export type WithKey = { readonly idempotency_key: string }

export type CaptureAuthorized = IntentRef & WithKey & { readonly amount_cents: number }

export type RefundCharge = IntentRef &
  WithKey & {
    /** Our id. The provider's refund names it where it can. */
    readonly refund_id: string
    readonly amount_cents: number
    /** Whether this is all that was received by the charge, so that it may be voided. */
    readonly is_whole: boolean
    readonly reason: RefundReason
    /** When the refund was requested first, ISO 8601. */
    readonly requested_at: string
    /** Whether an earlier call may have reached the provider. One without keys has to be searched for it. */
    readonly is_repeated: boolean
  }

/** What the provider says of one refund. */
export type ReportedRefund = Reported<RecordRefund>

export type FurtherCharge = ReportedMoney & { readonly provider_payment_id: string }

export type IntentSnapshot = {
  /** `provider_event_id` is null, and `provider_time` is the provider's clock when it responded. */
  readonly report: StatusReport
  /** Successful charges besides the one in `report`: the payer was charged more than once. */
  readonly further_charges: readonly FurtherCharge[]
  /** The payer has approved, and we have to capture the money. */
  readonly awaits_capture: boolean
  /** The refunds of the payment, as far as the provider shows them with it. */
  readonly refunds?: readonly ReportedRefund[]
  /** Nobody has paid, and the page where the payer could has expired. */
  readonly is_page_expired?: boolean
}

export type CreateSetupIntent = {
  readonly idempotency_key: string
  /** `null` when the user has none yet. The adapter ignores a customer that no longer exists at the provider. */
  readonly provider_customer_id: string | null
}

export type ProviderSetupIntent = {
  readonly provider_setup_intent_id: string
  readonly client_secret: string
}

export type SignedNotification = {
  /** The bytes as received: the signature is over them. */
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly now: Date
}

/** A notification in provider-independent form. */
export type ProviderNotification = {
  readonly provider_event_id: string
  /** The provider's own name of the type. */
  readonly provider_type: string
  /** The generic type of interface section 6.1, if there is one. */
  readonly generic_type: string | null
  /** The provider's time, ISO 8601. */
  readonly occurred_at: string
  readonly object_id: string | null
  readonly amount_cents: number | null
  /** Upper case. */
  readonly currency: string | null
  /** The provider's status, in lower case. */
  readonly status: string | null
  readonly customer_id: string | null
  readonly customer_email: string | null
  /** The payment id that the object names. Another object may name it too: trust it only for the payment's own intent. */
  readonly referenced_payment_id: string | null
  /**
   * `null` when the notification is not about a payment, or its object shows that the payment is not ours. If there is a
   * report but no `referenced_payment_id`, the provider has to be asked, see `findPaymentId`.
   */
  readonly report: ProviderReport | null
  /** Set on notifications about subscriptions and their invoices. */
  readonly subscription: SubscriptionFacts | null
  /** Set where the generic type does not show whether it reports such a fact, see `sharedFactOf`. */
  readonly shared_fact?: ReportedFact | null
}

/** @see SharedFactKind. Without an id it cannot be compared with other notifications. */
export type ReportedFact = { readonly kind: SharedFactKind; readonly id: string | null }

/** A domain command without the fields that the receiver adds. */
type Reported<Command> = Omit<Command, 'occurred_at' | 'source'>

export type ProviderReport =
  /** Identifies the payment but records nothing: another notification reports the change. */
  | ({ readonly about: 'object' } & ReportSource)
  | ({ readonly about: 'status' } & Reported<StatusReport>)
  | ({ readonly about: 'refund' } & ReportedRefund)
  /** How much of a charge is refunded altogether. */
  | ({ readonly about: 'refunded_total' } & Reported<ReceivedReport & ReportedMoney>)
  | ({ readonly about: 'dispute' } & Reported<RecordDispute>)

export type ProviderErrorKind =
  /** The provider declined this payment. */
  | 'declined'
  /** The provider rejected the request as invalid. */
  | 'rejected'
  /** The provider does not accept this currency or amount. */
  | 'currency'
  /** The provider was certainly not reached, or certainly did nothing. */
  | 'unavailable'
  /** The outcome is unknown: the provider may have done it. */
  | 'unknown'

/** The provider rejected a call because of its rate limit. */
export type RateLimit = {
  /** When to retry, if the provider specifies it. */
  readonly retryAfterMs: number | null
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider's own code, which is recorded. The message is for API clients, so the adapter words it. */
  readonly code: string
  /** Set when the kind is `unavailable` because of a rate limit. */
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
