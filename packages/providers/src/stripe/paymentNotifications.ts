// What Stripe's events about payments say: a status, a refund, a dispute.
import { Id } from '@paylog/domain/fields'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { Compile } from 'typebox/compile'
import type { ProviderReport } from '../provider.ts'
import type { NotificationDetails, StripeEventData } from './details.ts'
import { amountIn, codeIn, emailIn, idIn, moneyIn, objectIn, type StripeObject } from './fields.ts'
import { evidenceOf, PaymentIntent } from './paymentIntent.ts'

const paymentIntent = Compile(PaymentIntent)
const ourId = Compile(Id)

/**
 * An event about an intent. The type says what happened; the object is how it was then. One that cannot be read states
 * nothing, because a success over no amount could not be told from one over another; it is kept all the same.
 */
export function intentDetails(
  { id, occurred_at, object }: StripeEventData,
  status: PaymentStatus,
): Partial<NotificationDetails> {
  if (!paymentIntent.Check(object)) return {}
  const evidence = evidenceOf(object, status, { provider_event_id: id, provider_time: occurred_at })
  if (evidence === null) return {}
  return {
    amount_cents: evidence.amount_cents,
    currency: evidence.currency,
    customer_email: emailIn(object.receipt_email),
    claimed_payment_id: paymentIdIn(object),
    statement: { about: 'status', ...evidence },
  }
}

/** An intent that came into being: of ours there is nothing new in it, and of another system's it says what it is. */
export function referenceDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { statement: report, ...details } = intentDetails(event, 'pending')
  return report ? { ...details, statement: referenceReport(event, report.provider_intent_id, null) } : details
}

export function chargeDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  return {
    ...moneyIn(object.amount, object.currency),
    claimed_payment_id: paymentIdIn(object),
    statement: referenceReport(event, idIn(object.payment_intent), idIn(object.id)),
  }
}

function referenceReport(
  event: StripeEventData,
  provider_intent_id: string | null,
  provider_payment_id: string | null,
): ProviderReport {
  const { id: provider_event_id, occurred_at: provider_time } = event
  return { about: 'mention', provider_time, provider_event_id, provider_intent_id, provider_payment_id }
}

/** `amount_refunded` is the sum of all refunds of the charge, so this one is what was added. */
export function refundDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object, previous } = event
  const [sum, before] = [amountIn(object.amount_refunded), amountIn(previous.amount_refunded)]
  const added = sum === null || before === null ? null : sum - before
  const [latest] = listIn(object.refunds)
  return {
    ...moneyIn(object.amount, object.currency),
    claimed_payment_id: paymentIdIn(object),
    statement: reportAbout(event, idIn(object.id), {
      about: 'refund',
      refund_id: idIn(latest),
      refunded_cents: moneyIn(added, object.currency).amount_cents,
    }),
  }
}

export function disputeDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  const money = moneyIn(object.amount, object.currency)
  return {
    ...money,
    statement: reportAbout(event, idIn(object.charge), {
      about: 'dispute',
      dispute_id: idIn(object.id),
      dispute_status: codeIn(object.status)?.toLowerCase() ?? 'unknown',
      disputed_cents: money.amount_cents,
    }),
  }
}

type ReportSubject =
  | Pick<Extract<ProviderReport, { about: 'refund' }>, 'about' | 'refund_id' | 'refunded_cents'>
  | Pick<Extract<ProviderReport, { about: 'dispute' }>, 'about' | 'dispute_id' | 'dispute_status' | 'disputed_cents'>

function reportAbout(
  { id, occurred_at, object }: StripeEventData,
  chargeId: string | null,
  about: ReportSubject,
): ProviderReport {
  return {
    ...about,
    provider_time: occurred_at,
    provider_event_id: id,
    provider_intent_id: idIn(object.payment_intent),
    provider_payment_id: chargeId,
  }
}

/** The payment that the object names as ours. Others write what they like under the same name. */
function paymentIdIn(object: StripeObject): string | null {
  const { payment_id } = objectIn(object.metadata)
  return ourId.Check(payment_id) ? payment_id : null
}

function listIn(list: unknown): readonly unknown[] {
  const { data } = objectIn(list)
  return Array.isArray(data) ? data : []
}
