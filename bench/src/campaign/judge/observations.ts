// What the judge sees of a campaign: the clients' requests, the providers' books, the received webhooks, and what the API
// shows after the last fault. Plain data.

export type ProviderName = 'stripe' | 'sandbox'
/** A caller whose payments are listed together. */
export type Owner = 'user 1' | 'user 2' | 'guest'

/** One response to a client; `status` is `null` when none arrived, and `code` says how it was lost. */
export type Answer = {
  readonly status: number | null
  readonly code: string | null
  readonly payment_id: string | null
}

/** One payment that a client wanted, with every response to the request and its repetitions. */
export type PaymentRequest = {
  /** Sent as `reference_code`, so that each payment can be traced to its request. */
  readonly reference: string
  readonly owner: Owner
  readonly key: string | null
  readonly provider: ProviderName
  readonly amount_cents: number
  readonly currency: string
  readonly answers: Answer[]
  /** The client stopped repeating before it got a final answer. */
  gave_up: boolean
}

/** An intent in a provider's books. */
export type Intent = {
  readonly provider: ProviderName
  readonly id: string
  /** The payment id in the intent's metadata. */
  readonly payment_id: string | null
  readonly key: string | null
  readonly amount_cents: number
  readonly currency: string
  readonly status: 'open' | 'succeeded' | 'canceled'
  /** The number of declined attempts. */
  readonly failures: number
  /** Created by another system. */
  readonly is_foreign: boolean
}

export type Notification = {
  readonly id: string
  readonly provider: ProviderName
  readonly type: string
  readonly intent_id: string
  /** Requests sent with it. */
  sent: number
  /** Requests answered with 2xx. */
  accepted: number
}

export type Webhook = {
  readonly mode: 'canonical' | 'raw'
  readonly webhook_id: string
  readonly is_signed: boolean
  readonly event: string
  /** Of a canonical webhook. */
  readonly payment_id: string | null
  readonly status: string | null
  readonly amount_cents: number | null
  /** Of a raw webhook: the id in the provider's own body. */
  readonly notification_id: string | null
}

export type ListedPayment = {
  readonly id: string
  readonly reference_code: string | null
  readonly status: string
  readonly total_cents: number
}

export type HistoryEntry = { readonly type: string; readonly status_after: string; readonly occurred_at: string }

export type Payment = ListedPayment & {
  readonly currency: string
  readonly provider_id: string
  readonly provider_intent_id: string | null
  readonly history: readonly HistoryEntry[]
}

/** Where the system is reached. The HTTP addresses may all be that of the edge. */
export type Urls = {
  readonly command: readonly string[]
  readonly query: string
  readonly operator: string
  /** `esdb://…`, to read the log as an auditor does. */
  readonly eventStore: string
}

/** What the load saw by itself. */
export type Seen = {
  readonly requests: readonly PaymentRequest[]
  readonly intents: readonly Intent[]
  readonly notifications: readonly Notification[]
  readonly webhooks: readonly Webhook[]
  /** Faults of the providers, by kind. */
  readonly provider_faults: Readonly<Record<string, number>>
}

export type Observations = Seen & {
  /** By id: all payments that any answer, intent, list or webhook names and that the API knows. */
  readonly payments: ReadonlyMap<string, Payment>
  readonly lists: ReadonlyMap<Owner, readonly ListedPayment[]>
}

export type Violation = { readonly rule: string; readonly story: string }
