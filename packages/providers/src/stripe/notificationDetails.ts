// Reads the objects of Stripe's events: payments, refunds, disputes, subscriptions, invoices, customers and methods.

import type { DisputeStatus } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { ReportSource } from '@paylog/domain/payments/statusReports'
import { Compile } from 'typebox/compile'
import { subscriptionFacts } from '../fields.ts'
import { codeAt, emailAt, objectAt, unitsAt, unixTimeAt, valueAt } from '../lenient.ts'
import type { ProviderNotification, ProviderReport } from '../provider.ts'
import {
  currencyIn,
  idIn,
  moneyIn,
  PaymentIntent,
  paymentIdIn,
  RefundedCharge,
  refundIn,
  refundsOfMoney,
  releasedOf,
  reportedRefund,
  type StripeObject,
  statusReportOf,
} from './objects.ts'

export type StripeEventData = {
  readonly id: string
  readonly occurred_at: string
  readonly object: StripeObject
  /** The previous values of changed fields. */
  readonly previous: StripeObject
}

/** The fields that depend on the event type. The others come from the envelope. */
export type NotificationDetails = Omit<
  ProviderNotification,
  'provider_event_id' | 'provider_type' | 'generic_type' | 'occurred_at'
>

const paymentIntent = Compile(PaymentIntent)

/**
 * An event about an intent; the status follows from the event type. An unreadable intent reports nothing, because
 * without an amount we could not check that the right amount was paid. The event is recorded anyway.
 */
export function intentDetails(
  { id, occurred_at, object }: StripeEventData,
  status: PaymentStatus,
): Partial<NotificationDetails> {
  if (!paymentIntent.Check(object)) return {}
  const report = statusReportOf(object, status, { provider_event_id: id, provider_time: occurred_at })
  if (report === null) return {}
  return {
    amount_cents: report.amount_cents,
    currency: report.currency,
    customer_email: emailAt(object, 'receipt_email'),
    referenced_payment_id: paymentIdIn(object),
    report: { about: 'status', ...report },
  }
}

/** A created intent changes nothing for our payments, but identifies a foreign payment. */
export function referenceDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { report, ...details } = intentDetails(event, 'pending')
  return report
    ? { ...details, report: { about: 'object', ...sourceOf(event, report.provider_intent_id, null) } }
    : details
}

const paymentObjects: ReadonlySet<unknown> = new Set(['payment_intent', 'charge', 'refund', 'dispute', 'review'])

/** An event of a type that we do not read, which may be about a payment. */
export function objectDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  if (!paymentObjects.has(object.object)) return {}
  const intentId = idIn(isIntent(object) ? object.id : object.payment_intent)
  const chargeId = idIn(object.object === 'charge' ? object.id : object.charge)
  return {
    referenced_payment_id: paymentIdIn(object),
    report: { about: 'object', ...sourceOf(event, intentId, chargeId) },
  }
}

/** Whether the object is an intent of another system: ours name their payment. Other objects may only refer to ours. */
export function isOthersIntent(object: StripeObject): boolean {
  return (
    isIntent(object) && typeof object.metadata === 'object' && object.metadata !== null && paymentIdIn(object) === null
  )
}

const isIntent = ({ object }: StripeObject) => object === 'payment_intent'

export function chargeDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  return {
    ...moneyIn(object.amount, object.currency),
    referenced_payment_id: paymentIdIn(object),
    report: { about: 'object', ...sourceOf(event, idIn(object.payment_intent), idIn(object.id)) },
  }
}

function sourceOf(
  { id, occurred_at }: Pick<StripeEventData, 'id' | 'occurred_at'>,
  provider_intent_id: string | null,
  provider_payment_id: string | null,
): ReportSource {
  return { provider_time: occurred_at, provider_event_id: id, provider_intent_id, provider_payment_id }
}

/** An event about one refund. https://docs.stripe.com/api/refunds */
export function refundDetails(event: StripeEventData): Partial<NotificationDetails> {
  const refund = refundIn(event.object)
  // An authorization that was never captured has expired.
  const isRelease = refund?.reason === 'expired_uncaptured_charge'
  const reported = refund && !isRelease ? reportedRefund(refund, sourceOf(event, null, null)) : null
  if (reported === null) return objectDetails(event)
  return {
    ...moneyIn(event.object.amount, event.object.currency),
    referenced_payment_id: paymentIdIn(event.object),
    report: { about: 'refund', ...reported },
  }
}

const refundedCharge = Compile(RefundedCharge)

/**
 * A charge was refunded. Charges of API versions before 2022-11-15 contain their refunds; the first one is new. Those of
 * later versions only say how much was refunded altogether.
 */
export function refundedChargeDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  const source = sourceOf(event, idIn(object.payment_intent), idIn(object.id))
  return {
    ...moneyIn(object.amount, object.currency),
    referenced_payment_id: paymentIdIn(object),
    report: refundedChargeReport(object, source),
  }
}

function refundedChargeReport(object: StripeObject, source: ReportSource): ProviderReport {
  const charge = refundedCharge.Check(object) ? object : null
  if (charge?.captured === false) return { about: 'object', ...source }
  const [latest] = charge?.refunds?.data ?? []
  const isMoney = charge && latest && refundsOfMoney(charge, charge.refunds?.data ?? []).includes(latest)
  const reported = isMoney ? reportedRefund(latest, source) : null
  if (reported) return { about: 'refund', ...reported }
  const total = unitsAt(object, 'amount_refunded')
  const refunded = total === null ? null : Math.max(0, total - (charge ? releasedOf(charge) : 0))
  return { about: 'refunded_total', ...source, ...moneyIn(refunded, object.currency) }
}

/** https://docs.stripe.com/disputes/how-disputes-work. An inquiry that was closed took no money, nor did a prevented one. */
const closedDisputes: ReadonlyMap<string, DisputeStatus> = new Map([
  ['won', 'won'],
  ['warning_closed', 'won'],
  ['prevented', 'won'],
  ['lost', 'lost'],
  // Until 2020.
  ['charge_refunded', 'lost'],
])

export function disputeDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  const money = moneyIn(object.amount, object.currency)
  const provider_status = codeAt(object, 'status')?.toLowerCase() ?? 'unknown'
  return {
    ...money,
    referenced_payment_id: paymentIdIn(object),
    report: {
      about: 'dispute',
      ...sourceOf(event, idIn(object.payment_intent), idIn(object.charge)),
      provider_dispute_id: idIn(object.id),
      status: closedDisputes.get(provider_status) ?? 'open',
      provider_status,
      reason: codeAt(object, 'reason'),
      evidence_due_by: unixTimeAt(object, 'evidence_details', 'due_by'),
      ...money,
    },
  }
}

/** A thin event names only the id of its object. */
export function thinDetails(event: Omit<StripeEventData, 'object' | 'previous'>, objectId: string | null) {
  const intentId = objectId?.startsWith('pi_') ? objectId : null
  const chargeId = objectId && /^(ch|py)_/.test(objectId) ? objectId : null
  const isPayment = intentId !== null || chargeId !== null
  return { report: isPayment ? { about: 'object' as const, ...sourceOf(event, intentId, chargeId) } : null }
}

/** @param changed whether the event type implies a changed status */
export function subscriptionDetails(
  { object, previous }: StripeEventData,
  changed: boolean,
): Partial<NotificationDetails> {
  const status_changed = changed || codeAt(previous, 'status') !== null
  // A change of something else at a subscription that had ended before. A thin event does not show what has changed.
  const isLater = !status_changed && Object.keys(previous).length > 0
  return {
    currency: currencyIn(object.currency),
    subscription: subscriptionFacts(idIn(object.id), { current_period_end: periodEndIn(object), status_changed }),
    ...(isLater && { shared_fact: null }),
  }
}

/** API versions since 2025 have the period on the items. Items may differ; we read the first. */
function periodEndIn(subscription: StripeObject): string | null {
  const ofFirstItem = unixTimeAt(subscription, 'items', 'data', 0, 'current_period_end')
  return ofFirstItem ?? unixTimeAt(subscription, 'current_period_end')
}

/**
 * A Stripe invoice names its subscription, if any. An invoice in the generic shape does not, so its subscription is
 * unknown.
 * @param paid the field with the paid or due amount
 */
export function invoiceDetails(
  { object }: StripeEventData,
  paid: 'amount_paid' | 'amount_due',
): Partial<NotificationDetails> {
  // API versions since 2025 have it in the parent.
  const ofParent = valueAt(object, 'parent', 'subscription_details', 'subscription')
  const subscription_id = idIn(object.subscription) ?? idIn(ofParent)
  const isKnown = subscription_id !== null || object.object === 'invoice'
  const is_first_invoice = object.billing_reason === 'subscription_create'
  const isExtension = paid === 'amount_paid' && paysPeriod(object) && !(isKnown && subscription_id === null)
  const current_period_end = isExtension ? paidPeriodEndIn(object) : null
  return {
    ...moneyIn(object[paid] ?? object.amount, object.currency),
    customer_email: emailAt(object, 'customer_email'),
    subscription: isKnown ? subscriptionFacts(subscription_id, { is_first_invoice, current_period_end }) : null,
    shared_fact: isExtension ? { kind: 'paid_invoice', id: idIn(object.id) } : null,
  }
}

/**
 * Whether the invoice is for a further period. Others are for a change within a period, for what was used, or for the
 * beginning. https://docs.stripe.com/api/invoices/object#invoice_object-billing_reason
 */
function paysPeriod({ billing_reason }: StripeObject): boolean {
  // Stripe wrote `subscription` until 2018.
  const reasons: readonly unknown[] = [undefined, null, 'subscription_cycle', 'subscription']
  return reasons.includes(billing_reason)
}

/** The end of the latest period that is paid in full. ISO 8601 texts in UTC compare like their times. */
function paidPeriodEndIn(invoice: StripeObject): string | null {
  const lines = valueAt(invoice, 'lines', 'data')
  const ends = (Array.isArray(lines) ? lines : []).flatMap((line: unknown) =>
    isProration(line) ? [] : (unixTimeAt(line, 'period', 'end') ?? []),
  )
  return ends.toSorted().at(-1) ?? null
}

/** API versions since 2025 have it in the details of the line's parent. */
function isProration(line: unknown): boolean {
  const parents = Object.values(objectAt(line, 'parent'))
  return [line, ...parents].some((each) => valueAt(each, 'proration') === true)
}

export function customerDetails({ object }: StripeEventData): Partial<NotificationDetails> {
  return { customer_id: idIn(object.id), customer_email: emailAt(object, 'email') }
}

/** A detached method no longer names its customer; the previous values do. */
export function methodDetails({ object, previous }: StripeEventData): Partial<NotificationDetails> {
  return { customer_id: idIn(object.customer) ?? idIn(previous.customer) }
}
