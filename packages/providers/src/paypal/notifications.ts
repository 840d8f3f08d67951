// PayPal's notifications in our words: every row of the table of types, and what each says about what.
import { Email } from '@paylog/domain/fields'
import { Compile } from 'typebox/compile'
import {
  type GenericEventOptions,
  genericName,
  genericSubscription,
  isGenericEvent,
  readGenericEvent,
} from '../genericEvent.ts'
import type { ProviderNotification } from '../provider.ts'
import { captureFailure } from './captures.ts'
import { referencedPaymentId } from './claim.ts'
import {
  type Amount,
  amountAt,
  valueAt,
  codeAt,
  type Envelope,
  instantAt,
  parseNotification,
  readEnvelope,
} from './notificationText.ts'
import { isDispute, reportOf } from './statements.ts'

/** The capture of an order has an id of its own. */
const genericEventOptions: GenericEventOptions = { chargeOf: () => null, failure: captureFailure() }

const email = Compile(Email)

const genericTypes: Readonly<Record<string, string>> = {
  'CHECKOUT.ORDER.CREATED': 'payment_intent.created',
  'PAYMENT.CAPTURE.COMPLETED': 'payment_intent.succeeded',
  'PAYMENT.CAPTURE.DENIED': 'payment_intent.failed',
  'PAYMENT.CAPTURE.DECLINED': 'payment_intent.failed',
  'PAYMENT.AUTHORIZATION.VOIDED': 'payment_intent.canceled',
  'CHECKOUT.PAYMENT-APPROVAL.REVERSED': 'payment_intent.canceled',
  'PAYMENT.CAPTURE.PENDING': 'payment_intent.processing',
  'PAYMENT.AUTHORIZATION.CREATED': 'payment_intent.processing',
  'CHECKOUT.ORDER.APPROVED': 'payment_intent.processing',
  'VAULT.PAYMENT-TOKEN.CREATED': 'payment_method.attached',
  'VAULT.PAYMENT-TOKEN.DELETED': 'payment_method.detached',
  'BILLING.SUBSCRIPTION.CREATED': 'subscription.created',
  'BILLING.SUBSCRIPTION.ACTIVATED': 'subscription.updated',
  'BILLING.SUBSCRIPTION.UPDATED': 'subscription.updated',
  'BILLING.SUBSCRIPTION.SUSPENDED': 'subscription.updated',
  'BILLING.SUBSCRIPTION.RE-ACTIVATED': 'subscription.updated',
  'BILLING.SUBSCRIPTION.CANCELLED': 'subscription.deleted',
  'BILLING.SUBSCRIPTION.EXPIRED': 'subscription.deleted',
  'BILLING.SUBSCRIPTION.PAYMENT.FAILED': 'invoice.payment_failed',
}

/** The types that tell by their name that the subscription's status is another one than before. */
const statusChanges: ReadonlySet<string> = new Set([
  'BILLING.SUBSCRIPTION.ACTIVATED',
  'BILLING.SUBSCRIPTION.RE-ACTIVATED',
  'BILLING.SUBSCRIPTION.SUSPENDED',
])

/**
 * Reads a notification, in PayPal's form or in the provider-neutral one.
 * @throws DomainError `invalid_request` when it is none
 */
export function readNotification(body: Buffer): ProviderNotification {
  const { json } = parseNotification(body)
  return isGenericEvent(json) ? readGenericEvent(json, genericEventOptions) : notificationOf(readEnvelope(json))
}

function notificationOf(event: Envelope): ProviderNotification {
  const { id, event_type, create_time: occurred_at, resource } = event
  const customer_email = valueAt(resource, 'payer', 'email_address') ?? valueAt(resource, 'subscriber', 'email_address')
  const amount = amountIn(event)
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
    customer_email: email.Check(customer_email) ? customer_email : null,
    referenced_payment_id: referencedPaymentId(
      isDispute(event) ? valueAt(resource, 'disputed_transactions', 0) : resource,
    ),
    report: reportOf(event, { ...amount, provider_time: occurred_at }),
    subscription: subscriptionIn(event),
  }
}

function genericTypeOf(event: Envelope): string | null {
  const { event_type } = event
  if (isRenewal(event)) return 'invoice.payment_succeeded'
  return Object.hasOwn(genericTypes, event_type) ? (genericTypes[event_type] ?? null) : genericName(event_type)
}

/** A sale is the payment of a subscription's invoice only when it names the subscription. */
function isRenewal({ event_type, resource }: Envelope): boolean {
  return event_type === 'PAYMENT.SALE.COMPLETED' && codeAt(resource, 'billing_agreement_id') !== null
}

function amountIn(event: Envelope): Amount {
  const { event_type, resource } = event
  if (isDispute(event)) return amountAt(resource, 'dispute_amount')
  if (event_type === 'BILLING.SUBSCRIPTION.PAYMENT.FAILED')
    return amountAt(resource, 'billing_info', 'last_failed_payment', 'amount')
  const own = amountAt(resource, 'amount')
  return own.currency === null ? amountAt(resource, 'purchase_units', 0, 'amount') : own
}

function subscriptionIn(event: Envelope): ProviderNotification['subscription'] {
  const { event_type, resource } = event
  if (isRenewal(event))
    return {
      subscription_id: codeAt(resource, 'billing_agreement_id'),
      current_period_end: null,
      status_changed: false,
      // A sale does not tell which of the subscription's sales it is.
      is_first_invoice: false,
    }
  if (!event_type.startsWith('BILLING.SUBSCRIPTION.')) return genericSubscription(event_type, codeAt(resource, 'id'))
  return {
    subscription_id: codeAt(resource, 'id'),
    current_period_end: instantAt(resource, 'billing_info', 'next_billing_time'),
    status_changed: statusChanges.has(event_type),
    is_first_invoice: false,
  }
}
