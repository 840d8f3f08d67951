// Reads PayPal's notifications: generic type, payment report, and subscription facts.
import type { DisputeStatus, RefundStatus } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { ReportedMoney } from '@paylog/domain/payments/reportedMoney'
import type { ReportSource } from '@paylog/domain/payments/statusReports'
import { subscriptionFacts } from '../fields.ts'
import {
  type GenericEventOptions,
  genericName,
  genericSubscription,
  isGenericEvent,
  isPaymentType,
  readGenericEvent,
  statusOfGenericType,
} from '../genericEvent.ts'
import { codeAt, emailAt, instantAt, valueAt } from '../lenient.ts'
import type { ProviderNotification, ProviderReport } from '../provider.ts'
import {
  amountAt,
  captureFailure,
  type Envelope,
  isOthersObject,
  linkedAuthorization,
  linkedCapture,
  orderIn,
  parseNotification,
  paymentIdIn,
  readEnvelope,
  refundFailure,
  refundIdIn,
  refundStatuses,
} from './fields.ts'

/** The types that report a payment status. Other order events are intermediate, or repeat the report of the capture. */
const statuses: ReadonlyMap<string, PaymentStatus> = new Map([
  ['CHECKOUT.ORDER.APPROVED', 'processing'],
  ['CHECKOUT.ORDER.VOIDED', 'canceled'],
  ['CHECKOUT.PAYMENT-APPROVAL.REVERSED', 'canceled'],
  ['PAYMENT.AUTHORIZATION.CREATED', 'processing'],
  ['PAYMENT.AUTHORIZATION.VOIDED', 'canceled'],
  ['PAYMENT.CAPTURE.COMPLETED', 'succeeded'],
  ['PAYMENT.CAPTURE.DECLINED', 'failed'],
  ['PAYMENT.CAPTURE.DENIED', 'failed'],
  ['PAYMENT.CAPTURE.PENDING', 'processing'],
])

/** Events about a refund. PayPal reverses a capture itself: after a lost dispute, or when a bank takes the money back. */
const refunds: ReadonlySet<string> = new Set([
  'PAYMENT.CAPTURE.REFUNDED',
  'PAYMENT.CAPTURE.REVERSED',
  'PAYMENT.REFUND.PENDING',
  'PAYMENT.REFUND.FAILED',
])

const isDispute = ({ event_type }: Envelope): boolean => event_type.startsWith('CUSTOMER.DISPUTE.')

/** @param reported the amount and the time of the report */
function reportOf(
  event: Envelope,
  reported: ReportedMoney & { readonly provider_time: string },
): ProviderReport | null {
  const { id: provider_event_id, event_type, resource } = event
  const { provider_time } = reported
  if (isDispute(event)) return { ...disputeReport(resource), provider_event_id, provider_time }
  const source = { provider_event_id, provider_time, provider_intent_id: intentIn(event) }
  return refunds.has(event_type) ? refundReport(event, reported, source) : statusReport(event, reported, source)
}

type Source = Pick<ReportSource, 'provider_event_id' | 'provider_time' | 'provider_intent_id'>

function refundReport(event: Envelope, { amount_cents, currency }: ReportedMoney, source: Source): ProviderReport {
  const { event_type, resource } = event
  const charge = { ...source, provider_payment_id: refundedCapture(event) }
  const isReversal = event_type === 'PAYMENT.CAPTURE.REVERSED'
  // A capture does not show how much of it was refunded just now.
  if (!isRefund(event) && !isReversal) return { about: 'refunded_total', ...charge, amount_cents: null, currency }
  const state = codeAt(resource, 'status')
  const status = refundStatus(event_type, state)
  const reason = codeAt(resource, 'status_details', 'reason')
  return {
    about: 'refund',
    ...charge,
    refund_id: refundIdIn(resource),
    provider_refund_id: isRefund(event) ? codeAt(resource, 'id') : null,
    amount_cents,
    currency,
    status,
    ...(isReversal && { reason: 'other', note: reason?.toLowerCase() ?? 'reversed' }),
    ...(status === 'failed' && { failure_code: refundFailure(state, reason) }),
  }
}

function refundStatus(event_type: string, state: string | null): RefundStatus {
  if (event_type === 'PAYMENT.REFUND.FAILED') return 'failed'
  return refundStatuses.get(state ?? '') ?? (event_type === 'PAYMENT.REFUND.PENDING' ? 'pending' : 'succeeded')
}

function statusReport(event: Envelope, reported: ReportedMoney, source: Source): ProviderReport | null {
  const { event_type, resource } = event
  const status = statuses.get(event_type) ?? statusOfGenericType(event_type)
  if (!status) return isReference(event) ? { about: 'object', ...source, provider_payment_id: null } : null
  // The money is still authorized, and may be captured again.
  if (status === 'failed' && linkedAuthorization(resource) !== null)
    return { about: 'object', ...source, provider_payment_id: codeAt(resource, 'id') }
  const { amount_cents, currency } = reported
  // Without an amount we cannot check the price. The order can be fetched instead.
  if (status === 'succeeded' && (amount_cents === null || currency === null)) return null
  return {
    about: 'status',
    status,
    ...source,
    provider_payment_id: event_type.startsWith('PAYMENT.CAPTURE.') ? codeAt(resource, 'id') : null,
    amount_cents,
    currency,
    ...authorizedIn(event, amount_cents),
    ...(event_type === 'CHECKOUT.ORDER.APPROVED' && { awaits_capture: true }),
    ...(status === 'failed' ? captureFailure(codeAt(resource, 'status_details', 'reason')) : {}),
    ...(status === 'canceled' ? { reason: event_type.toLowerCase() } : {}),
  }
}

/** What can be captured of a new authorization. One that PayPal reviews is pending. */
function authorizedIn({ event_type, resource }: Envelope, amount_cents: number | null) {
  const isOpen =
    event_type === 'PAYMENT.AUTHORIZATION.CREATED' && (codeAt(resource, 'status') ?? 'CREATED') === 'CREATED'
  return isOpen && amount_cents !== null ? { capturable_cents: amount_cents } : {}
}

/** These events only identify the payment: a completed order contains less than its capture's own notification. */
const isReference = ({ event_type }: Envelope) => event_type.startsWith('CHECKOUT.ORDER.') || isPaymentType(event_type)

/** In a generic event the object is the order, unless it names one. */
function intentIn({ event_type, resource }: Envelope): string | null {
  if (event_type.startsWith('CHECKOUT.')) return codeAt(resource, 'id') ?? codeAt(resource, 'order_id')
  const named = orderIn(resource)
  return isPaymentType(event_type) ? (named ?? codeAt(resource, 'id')) : named
}

/** In old notifications the object is the capture instead of a refund. */
const isRefund = ({ resource_type }: Envelope) => resource_type !== 'capture'

/** A refund only links to its capture. */
function refundedCapture(event: Envelope): string | null {
  const { resource } = event
  const named = linkedCapture(resource) ?? codeAt(resource, 'supplementary_data', 'related_ids', 'capture_id')
  return named ?? (isRefund(event) ? null : codeAt(resource, 'id'))
}

type DisputeReport = Extract<ProviderReport, { about: 'dispute' }>

/** https://developer.paypal.com/docs/api/customer-disputes/v1/#disputes_get */
const disputeOutcomes: ReadonlyMap<string, DisputeStatus> = new Map([
  ['RESOLVED_BUYER_FAVOUR', 'lost'],
  ['ACCEPTED', 'lost'],
  ['RESOLVED_SELLER_FAVOUR', 'won'],
  // PayPal itself compensates the payer.
  ['RESOLVED_WITH_PAYOUT', 'won'],
  ['CANCELED_BY_BUYER', 'won'],
  ['DENIED', 'won'],
  // Closed without a decision, because another dispute was opened.
  ['NONE', 'won'],
])

/** @param resource the dispute */
function disputeReport(resource: unknown): Omit<DisputeReport, 'provider_time' | 'provider_event_id'> {
  const state = codeAt(resource, 'status')
  const outcome = codeAt(resource, 'dispute_outcome', 'outcome_code')
  const isClosed = state === 'RESOLVED'
  return {
    about: 'dispute',
    provider_intent_id: null,
    // Seen from us, the payer's transaction is our capture.
    provider_payment_id: codeAt(resource, 'disputed_transactions', 0, 'seller_transaction_id'),
    provider_dispute_id: codeAt(resource, 'dispute_id'),
    status: isClosed ? closedStatus(resource, outcome) : 'open',
    provider_status: ((isClosed && outcome) || (state ?? 'unknown')).toLowerCase(),
    reason: codeAt(resource, 'reason')?.toLowerCase() ?? null,
    evidence_due_by: instantAt(resource, 'seller_response_due_date'),
    ...amountAt(resource, 'dispute_amount'),
  }
}

/** Without a known outcome it is lost if the payer was given money. */
function closedStatus(resource: unknown, outcome: string | null): DisputeStatus {
  const known = disputeOutcomes.get(outcome ?? '')
  if (known) return known
  return (amountAt(resource, 'dispute_outcome', 'amount_refunded').amount_cents ?? 0) > 0 ? 'lost' : 'won'
}

/** The charge id does not follow from the intent id. */
const genericEventOptions: GenericEventOptions = { chargeOf: () => null, failure: captureFailure() }

/** Of several types that mean the same, the first one is written for a generic event. */
export const genericTypes: ReadonlyMap<string, string> = new Map([
  ['CHECKOUT.ORDER.CREATED', 'payment_intent.created'],
  ['PAYMENT.CAPTURE.COMPLETED', 'payment_intent.succeeded'],
  ['PAYMENT.CAPTURE.DENIED', 'payment_intent.failed'],
  ['PAYMENT.CAPTURE.DECLINED', 'payment_intent.failed'],
  ['PAYMENT.AUTHORIZATION.VOIDED', 'payment_intent.canceled'],
  ['CHECKOUT.PAYMENT-APPROVAL.REVERSED', 'payment_intent.canceled'],
  ['PAYMENT.CAPTURE.PENDING', 'payment_intent.processing'],
  ['PAYMENT.AUTHORIZATION.CREATED', 'payment_intent.processing'],
  ['CHECKOUT.ORDER.APPROVED', 'payment_intent.processing'],
  ['VAULT.PAYMENT-TOKEN.CREATED', 'payment_method.attached'],
  ['VAULT.PAYMENT-TOKEN.DELETED', 'payment_method.detached'],
  ['BILLING.SUBSCRIPTION.CREATED', 'subscription.created'],
  ['BILLING.SUBSCRIPTION.UPDATED', 'subscription.updated'],
  ['BILLING.SUBSCRIPTION.ACTIVATED', 'subscription.updated'],
  ['BILLING.SUBSCRIPTION.SUSPENDED', 'subscription.updated'],
  ['BILLING.SUBSCRIPTION.RE-ACTIVATED', 'subscription.updated'],
  ['BILLING.SUBSCRIPTION.CANCELLED', 'subscription.deleted'],
  ['BILLING.SUBSCRIPTION.EXPIRED', 'subscription.deleted'],
  ['BILLING.SUBSCRIPTION.PAYMENT.FAILED', 'invoice.payment_failed'],
])

/** The types that always mean a changed subscription status. */
const statusChanges: ReadonlySet<string> = new Set([
  'BILLING.SUBSCRIPTION.ACTIVATED',
  'BILLING.SUBSCRIPTION.RE-ACTIVATED',
  'BILLING.SUBSCRIPTION.SUSPENDED',
])

/**
 * Reads a notification in PayPal's or the generic shape.
 * @throws DomainError `invalid_request`
 */
export function readNotification(body: Buffer): ProviderNotification {
  const { json } = parseNotification(body)
  return isGenericEvent(json) ? readGenericEvent(json, genericEventOptions) : notificationOf(readEnvelope(json))
}

function notificationOf(event: Envelope): ProviderNotification {
  const { id, event_type, create_time: occurred_at, resource } = event
  const amount = amountIn(event)
  const paid = isDispute(event) ? valueAt(resource, 'disputed_transactions', 0) : resource
  return {
    provider_event_id: id,
    provider_type: event_type,
    generic_type: genericTypeOf(event),
    occurred_at,
    object_id: codeAt(resource, 'id') ?? codeAt(resource, 'order_id') ?? codeAt(resource, 'dispute_id'),
    ...amount,
    status: (codeAt(resource, 'status') ?? codeAt(resource, 'state'))?.toLowerCase() ?? null,
    customer_id:
      codeAt(resource, 'customer', 'id') ??
      codeAt(resource, 'payer', 'payer_id') ??
      codeAt(resource, 'subscriber', 'payer_id'),
    customer_email: emailAt(resource, 'payer', 'email_address') ?? emailAt(resource, 'subscriber', 'email_address'),
    referenced_payment_id: paymentIdIn(paid),
    // A refund may have an id of the system that made it, also a refund of our capture.
    report:
      isOthersObject(paid) && !refunds.has(event_type)
        ? null
        : reportOf(event, { ...amount, provider_time: occurred_at }),
    subscription: subscriptionIn(event),
  }
}

function genericTypeOf(event: Envelope): string | null {
  const { event_type } = event
  if (isRenewal(event)) return 'invoice.payment_succeeded'
  return genericTypes.get(event_type) ?? genericName(event_type)
}

/** A sale pays a subscription's invoice only if it names the subscription. */
function isRenewal({ event_type, resource }: Envelope): boolean {
  return event_type === 'PAYMENT.SALE.COMPLETED' && codeAt(resource, 'billing_agreement_id') !== null
}

function amountIn(event: Envelope): ReportedMoney {
  const { event_type, resource } = event
  if (isDispute(event)) return amountAt(resource, 'dispute_amount')
  if (event_type === 'BILLING.SUBSCRIPTION.PAYMENT.FAILED')
    return amountAt(resource, 'billing_info', 'last_failed_payment', 'amount')
  const own = amountAt(resource, 'amount')
  return own.currency === null ? amountAt(resource, 'purchase_units', 0, 'amount') : own
}

function subscriptionIn(event: Envelope): ProviderNotification['subscription'] {
  const { event_type, resource } = event
  // A sale does not show whether it is the subscription's first.
  if (isRenewal(event)) return subscriptionFacts(codeAt(resource, 'billing_agreement_id'))
  if (!event_type.startsWith('BILLING.SUBSCRIPTION.')) return genericSubscription(event_type, codeAt(resource, 'id'))
  return subscriptionFacts(codeAt(resource, 'id'), {
    current_period_end: instantAt(resource, 'billing_info', 'next_billing_time'),
    status_changed: statusChanges.has(event_type),
  })
}
