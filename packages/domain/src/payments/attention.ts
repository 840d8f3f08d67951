// What a human has to look at in a payment.
import { type Static, Type } from 'typebox'
import { AttentionCode, type PaymentEvent } from './events.ts'

/** An entry in API responses. */
export const AttentionEntry = Type.Object(
  {
    code: AttentionCode,
    occurred_at: Type.String({ format: 'date-time' }),
    message: Type.String(),
  },
  { title: 'AttentionEntry' },
)
export type AttentionEntry = Static<typeof AttentionEntry>

/** `subject` distinguishes facts with the same code. */
export type Attention = AttentionEntry & { readonly subject: string }

const messages: Readonly<Record<AttentionCode, string>> = {
  amount_mismatch: 'The provider received another amount or currency than the payment asks for',
  money_after_cancellation: 'Money arrived after the payment was canceled',
  unrequested_charge: 'The payer was charged more than once',
  refund_exceeds_payment: 'More was refunded than was received',
  foreign_intent: 'An intent at the provider names this payment, but belongs to another system',
  reported_in_other_currency: 'The provider reported a refund or a dispute in another currency than the payment has',
}

export const attentionMessage = (code: AttentionCode): string => messages[code]

/** The code of an event that asks for attention; null when an earlier event has asked for it. */
export function newAttention<Code extends AttentionCode>(
  { attention }: { readonly attention: readonly Attention[] },
  code: Code,
  subject: string,
): Code | null {
  return attention.some((entry) => entry.code === code && entry.subject === subject) ? null : code
}

/** What an event adds. */
export function attentionIn(event: PaymentEvent): Attention | null {
  const { data } = event
  if (!('attention' in data) || !data.attention) return null
  const { attention: code, occurred_at } = data
  return { code, occurred_at, message: messages[code], subject: subjectOf(event) }
}

/** The same report may come with other details: what makes a fact is named here. */
function subjectOf({ type, data }: PaymentEvent): string {
  switch (type) {
    case 'PaymentAmountMismatch':
      return `${data.reported_amount_cents} ${data.reported_currency}`
    case 'PaymentConflictDetected':
      return data.provider_payment_id ?? ''
    case 'ProviderEventIgnored':
      return data.reported_intent_id ?? ''
    case 'RefundRecorded':
      return data.attention === 'reported_in_other_currency' ? data.refund_id : ''
    case 'PaymentDisputeRecorded':
      return data.dispute_id
    default:
      return ''
  }
}

/** What a human has to look at in a payment, the oldest first. @param events of the payment, in order */
export function attentionOf(events: readonly PaymentEvent[]): AttentionEntry[] {
  return events.flatMap((event) => {
    const entry = attentionIn(event)
    return entry === null ? [] : [{ code: entry.code, occurred_at: entry.occurred_at, message: entry.message }]
  })
}
