// Reads the objects of Stripe's events: payments, refunds, disputes, subscriptions, invoices, customers and methods.

import type { ReportSource } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { Compile } from 'typebox/compile'
import { subscriptionFacts } from '../fields.ts'
import type { ProviderNotification } from '../provider.ts'
import {
  amountIn,
  codeIn,
  currencyIn,
  emailIn,
  idIn,
  moneyIn,
  objectIn,
  paymentIdIn,
  type StripeObject,
  timeIn,
} from './fields.ts'
import { evidenceOf, PaymentIntent } from './paymentIntent.ts'

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
  const evidence = evidenceOf(object, status, { provider_event_id: id, provider_time: occurred_at })
  if (evidence === null) return {}
  return {
    amount_cents: evidence.amount_cents,
    currency: evidence.currency,
    customer_email: emailIn(object.receipt_email),
    referenced_payment_id: paymentIdIn(object),
    report: { about: 'status', ...evidence },
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
  { id, occurred_at }: StripeEventData,
  provider_intent_id: string | null,
  provider_payment_id: string | null,
): ReportSource {
  return { provider_time: occurred_at, provider_event_id: id, provider_intent_id, provider_payment_id }
}

/** `amount_refunded` is the sum of all refunds of the charge, so the difference is this refund. */
export function refundDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object, previous } = event
  const [sum, before] = [amountIn(object.amount_refunded), amountIn(previous.amount_refunded)]
  const added = sum === null || before === null ? null : sum - before
  const [latest] = listIn(object.refunds)
  return {
    ...moneyIn(object.amount, object.currency),
    referenced_payment_id: paymentIdIn(object),
    report: {
      about: 'refund',
      ...sourceOf(event, idIn(object.payment_intent), idIn(object.id)),
      refund_id: idIn(latest),
      refunded_cents: moneyIn(added, object.currency).amount_cents,
    },
  }
}

export function disputeDetails(event: StripeEventData): Partial<NotificationDetails> {
  const { object } = event
  const money = moneyIn(object.amount, object.currency)
  return {
    ...money,
    referenced_payment_id: paymentIdIn(object),
    report: {
      about: 'dispute',
      ...sourceOf(event, idIn(object.payment_intent), idIn(object.charge)),
      dispute_id: idIn(object.id),
      dispute_status: codeIn(object.status)?.toLowerCase() ?? 'unknown',
      disputed_cents: money.amount_cents,
    },
  }
}

function listIn(list: unknown): readonly unknown[] {
  const { data } = objectIn(list)
  return Array.isArray(data) ? data : []
}

/** @param changed whether the event type implies a changed status */
export function subscriptionDetails(
  { object, previous }: StripeEventData,
  changed: boolean,
): Partial<NotificationDetails> {
  return {
    currency: currencyIn(object.currency),
    subscription: subscriptionFacts(idIn(object.id), {
      current_period_end: periodEndIn(object),
      status_changed: changed || codeIn(previous.status) !== null,
    }),
  }
}

/** API versions since 2025 have the period on the items. Items may differ; we read the first. */
function periodEndIn(subscription: StripeObject): string | null {
  const [first] = listIn(subscription.items)
  return timeIn(objectIn(first).current_period_end) ?? timeIn(subscription.current_period_end)
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
  const subscription_id = idIn(object.subscription) ?? idIn(subscriptionOf(object))
  const isKnown = subscription_id !== null || object.object === 'invoice'
  const is_first_invoice = object.billing_reason === 'subscription_create'
  return {
    ...moneyIn(object[paid] ?? object.amount, object.currency),
    customer_email: emailIn(object.customer_email),
    subscription: isKnown ? subscriptionFacts(subscription_id, { is_first_invoice }) : null,
  }
}

/** API versions since 2025 have the subscription here. */
function subscriptionOf(invoice: StripeObject): unknown {
  return objectIn(objectIn(invoice.parent).subscription_details).subscription
}

export function customerDetails({ object }: StripeEventData): Partial<NotificationDetails> {
  return { customer_id: idIn(object.id), customer_email: emailIn(object.email) }
}

/** A detached method no longer names its customer; the previous values do. */
export function methodDetails({ object, previous }: StripeEventData): Partial<NotificationDetails> {
  return { customer_id: idIn(object.customer) ?? idIn(previous.customer) }
}
