// What the judge sees of a campaign: what clients, payers, providers and endpoints saw, and what the system shows. Plain data.

export type ProviderName = 'stripe' | 'paypal' | 'authorize-net' | 'sandbox'
export type Owner = 'user 1' | 'user 2' | 'guest' | 'anonymous' | 'administrator'

/** Where the system is reached. The HTTP addresses may all be that of the edge. */
export type Urls = {
  readonly command: readonly string[]
  readonly query: string
  readonly operator: string
  /** `esdb://…`, to read the log as an auditor does. */
  readonly eventStore: string
}

/** One response to a client; `status` is `null` when none arrived, and `code` says how it was lost. */
export type Answer = {
  readonly status: number | null
  readonly code: string | null
  /** Of the resource in a success. */
  readonly id: string | null
  /** Of the write in the log, as the response says. */
  readonly position: string | null
}

export type Action =
  | 'create payment'
  | 'refund'
  | 'capture'
  | 'cancel'
  | 'refresh'
  | 'add address'
  | 'change address'
  | 'delete address'
  | 'save method'
  | 'change method'
  | 'delete method'
  | 'add product'
  | 'change product'

/** One thing that a client wanted, with every response to the request and its repetitions. */
export type Operation = {
  readonly action: Action
  readonly owner: Owner
  /** Unique. A payment has it as `reference_code`, so that each can be traced to its request. */
  readonly name: string
  readonly key: string | null
  /** The resource that is changed; `null` for one that is created. */
  readonly subject: string | null
  readonly provider: ProviderName | null
  readonly amount_cents: number | null
  readonly currency: string | null
  readonly answers: Answer[]
  /** The client stopped repeating before it got a final answer. */
  gave_up: boolean
}

/** A read that follows an acknowledged write and names its position. */
export type ReadAfterWrite = {
  readonly request: string
  readonly status: number
  /** What the response has to show, or must not show any more. */
  readonly expected: string
  readonly is_right: boolean
  /** The response says itself that it may be outdated. */
  readonly is_stale: boolean
}

/** An attempt to read or change what belongs to somebody else. */
export type Intrusion = { readonly owner: Owner; readonly request: string; readonly status: number }

/** Texts of an owner that were in responses to a caller. */
export type Sighting = { readonly caller: Owner; readonly owner: Owner; readonly request: string; times: number }

/** An intent in a provider's books. */
export type Intent = {
  readonly provider: ProviderName
  readonly id: string
  /** The payment id in the intent. */
  readonly payment_id: string | null
  readonly key: string | null
  readonly amount_cents: number
  readonly currency: string
  /** `approved`: the payer agreed, and the money has to be captured. `authorized`: it waits for its capture. */
  readonly status: 'open' | 'approved' | 'authorized' | 'succeeded' | 'canceled'
  /** The number of declined attempts. */
  readonly failures: number
  /** Successful charges, and their money. */
  readonly charges: number
  readonly received_cents: number
  /** `null` where the books do not say. */
  readonly refunded_cents: number | null
  /** Created by another system. */
  readonly is_foreign: boolean
}

export type Notification = {
  readonly id: string
  readonly provider: ProviderName
  readonly type: string
  /** `forged`: not signed by the provider. */
  readonly kind: 'sent' | 'forged'
  /** Requests sent with it. */
  sent: number
  /** Requests answered with 2xx. */
  accepted: number
}

export type Endpoint = {
  readonly name: string
  readonly mode: 'canonical' | 'raw'
  /** `all`, or patterns. */
  readonly events: string
}

export type Webhook = {
  readonly endpoint: string
  readonly webhook_id: string
  /** With the secret of this endpoint. */
  readonly is_signed: boolean
  readonly event: string
  /** Of a canonical webhook. */
  readonly payment_id: string | null
  readonly status: string | null
  readonly amount_cents: number | null
  /** What the webhook is about beside the payment: a refund, or what needs attention. */
  readonly detail: string | null
  /** Of a raw webhook: the id in the provider's own body. */
  readonly notification_id: string | null
}

/** A request that the system could not serve. */
export type Unavailable = {
  readonly request: string
  /** 503, or `null` when no answer came in all the time that a client waits. */
  readonly status: number | null
  readonly code: string | null
  readonly has_retry_after: boolean
  /** A provider may have taken its time. */
  readonly calls_provider: boolean
  readonly ms: number
}

/** What clients saw of a fault of the event store's nodes. */
export type Outage = {
  readonly kind: string
  readonly story: string
  /** The only fault of its round. */
  readonly is_alone: boolean
  /** From its last hit until a majority of the nodes named another leader; `null` when there was no election. */
  readonly leader_ms: number | null
  /** From then, or without an election from the hit, until a write was accepted that was sent during the fault. */
  readonly write_ms: number | null
  /** Lines about the event store in the log of each process. */
  readonly log_lines: Readonly<Record<string, number>>
}

/** What the load saw by itself. */
export type Seen = {
  readonly operations: readonly Operation[]
  readonly reads: readonly ReadAfterWrite[]
  readonly intrusions: readonly Intrusion[]
  readonly sightings: readonly Sighting[]
  readonly intents: readonly Intent[]
  readonly notifications: readonly Notification[]
  readonly endpoints: readonly Endpoint[]
  readonly webhooks: readonly Webhook[]
  /** Published outside the system, as signed notes. */
  readonly checkpoints: readonly string[]
  /** `<name>+<id>+<key>`, of the checkpoints. */
  readonly verifier_key: string
  /** Faults of the providers, by kind. */
  readonly provider_faults: Readonly<Record<string, number>>
}

/** An event as the log has it. */
export type LogEvent = {
  readonly position: string
  readonly stream: string
  readonly revision: number
  readonly id: string
  readonly type: string
  /** In ms since 1970, by the event store's clock. */
  readonly recorded_at: number
  /** The fields of its data that the judge knows. */
  readonly data: Readonly<Record<string, string | number | boolean | null>>
  /** The hash of its leaf in the tree of the log, in base64. */
  readonly leaf: string
}

export type ListedPayment = {
  readonly id: string
  readonly reference_code: string | null
  readonly status: string
  readonly total_cents: number
  readonly amount_received_cents: number
  readonly amount_refunded_cents: number
}

export type Payment = ListedPayment & {
  readonly currency: string
  readonly provider_id: string
  readonly provider_intent_id: string | null
}

export type Observations = Seen & {
  /** In ms since 1970. */
  readonly observed_at: number
  /** All of it. */
  readonly log: readonly LogEvent[]
  /** As an earlier observation read it. */
  readonly earlier_log: readonly LogEvent[]
  /** The leaves of the lines of an export, which begins with the event that is at this place of the log. */
  readonly exported: readonly string[]
  readonly exported_from: number
  /** Single payments: all that were touched since an earlier observation. `undefined` for one that the API does not know. */
  readonly payments: ReadonlyMap<string, Payment | undefined>
  /** The list of each owner, and that of the administrator with all. */
  readonly lists: ReadonlyMap<Owner, readonly ListedPayment[]>
  /** They have all payments that were recorded since then. */
  readonly listed_since: number
  /** `endpoint event stream` of deliveries that the system shows as failed for good. */
  readonly failed_deliveries: readonly string[]
}

export type Violation = { readonly rule: string; readonly story: string }
