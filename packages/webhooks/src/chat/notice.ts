// What a person in a chat is told of an event.

/** `null` stands for what is not known. Every text may hold what a stranger typed. */
export type ChatNotice = {
  /** The event's name as it stands on the wire: `payment.succeeded`, `stripe:invoice.paid`. */
  readonly event: string
  readonly provider: string
  /** The event's own time, ISO 8601. */
  readonly timestamp: string
  readonly amount_cents: number | null
  /** Upper case. */
  readonly currency: string | null
  /** An e-mail where there is one, else an id. */
  readonly customer: string | null
  readonly status: string | null
  /** By which the payment is looked up: ours, or the provider's id of one that is not. */
  readonly payment_id: string | null
  /** Somebody tries his endpoints out: nothing has happened. */
  readonly is_test: boolean
}
