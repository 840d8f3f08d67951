// The title and the sentence of a chat message about a refund, a dispute, or what needs attention.
import { currencyExponent, decimalOf } from '@paylog/domain/currency'
import type { DisputeFacts, RefundFacts } from '../messageSchemas.ts'
import type { NamedFacts } from '../webhookFacts.ts'

/**
 * The event whose words are the title. A failed refund and a closed dispute have the name of the first message about them,
 * and a canceled payment is sent as payment.failed, because there is no canonical name for it.
 */
export function titledEvent({ event, status, refund, dispute, attention }: NamedFacts): string {
  if (refund) return refund.status === 'failed' ? 'refund.failed' : event
  if (dispute) return dispute.status === 'open' ? event : `dispute.${dispute.status}`
  if (attention) return 'payment.needs.attention'
  return event === 'payment.failed' && status === 'canceled' ? 'payment.canceled' : event
}

/** @returns untrusted text, because the provider words the reason of a dispute; null for other messages */
export function detailsText({ refund, dispute, attention, currency }: NamedFacts): string | null {
  if (refund) return refundText(refund, currency)
  if (dispute) return disputeText(dispute, currency)
  return attention?.message ?? null
}

function refundText(refund: RefundFacts, currency: string | null): string {
  const { status, reason } = refund
  const sum = sumText(refund, currency)
  if (status === 'failed') return `The refund of ${sum} failed after it had succeeded`
  return `Refunded ${sum}${reason === 'other' ? '' : ` (${reason.replaceAll('_', ' ')})`}`
}

function disputeText(dispute: DisputeFacts, currency: string | null): string {
  const { status, reason, evidence_due_by } = dispute
  const sum = sumText(dispute, currency)
  if (status !== 'open') return `The dispute over ${sum} was ${status}`
  const due = new Date(evidence_due_by ?? '')
  // A long reason is cut at its end.
  return [
    `The payer disputes ${sum}`,
    ...(Number.isNaN(due.getTime()) ? [] : [`evidence is due by ${timeText(due)}`]),
    ...(reason === null ? [] : [`reason: ${reason.replaceAll('_', ' ')}`]),
  ].join('; ')
}

/** In the payment's currency, or as the provider reported it in another one. */
function sumText(facts: RefundFacts | DisputeFacts, currency: string | null): string {
  if (facts.amount !== null) return amountText(facts.amount, currency)
  const { reported_amount_cents: reported = null, reported_currency = null } = facts
  return reported === null ? 'an unknown amount' : amountText(reported, reported_currency)
}

/** `22.00 USD`. An unknown currency means that the provider's account has only one; we assume two decimals. */
export function amountText(cents: number, currency: string | null): string {
  const code = currency !== null && /^[A-Z]{3}$/.test(currency) ? currency : undefined
  const exponent = code === undefined ? 2 : currencyExponent(code)
  return [decimalOf(cents, exponent), ...(code === undefined ? [] : [code])].join(' ')
}

/** `2026-01-02 03:04:05 UTC` */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
