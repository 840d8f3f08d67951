// Every kind of Stripe event that means something to us: its generic name, and what is read from it.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import type { NotificationDetails, StripeEventData } from './details.ts'
import {
  chargeDetails,
  disputeDetails,
  intentDetails,
  referenceDetails,
  refundDetails,
} from './paymentNotifications.ts'
import { customerDetails, invoiceDetails, methodDetails, subscriptionDetails } from './subscriptionNotifications.ts'

type NotificationKind = {
  /** `null` where another event of Stripe's tells the same, or no generic name exists. */
  readonly generic: string | null
  readonly details?: (event: StripeEventData) => Partial<NotificationDetails>
}

const intentKind = (generic: string, status: PaymentStatus): NotificationKind => ({
  generic: `payment_intent.${generic}`,
  details: (said) => intentDetails(said, status),
})
const methodKind = (generic: string): NotificationKind => ({
  generic: `payment_method.${generic}`,
  details: methodDetails,
})
const subscriptionKind = (generic: string, status: 'as_told' | 'changed' = 'as_told'): NotificationKind => ({
  generic: `subscription.${generic}`,
  details: (said) => subscriptionDetails(said, status === 'changed'),
})
const invoiceKind = (generic: string, paid: 'amount_paid' | 'amount_due'): NotificationKind => ({
  generic: `invoice.${generic}`,
  details: (said) => invoiceDetails(said, paid),
})
const customerKind = (generic: string): NotificationKind => ({
  generic: `customer.${generic}`,
  details: customerDetails,
})
const chargeKind: NotificationKind = { generic: null, details: chargeDetails }
const disputeKind: NotificationKind = { generic: null, details: disputeDetails }

/** By Stripe's names, and by the generic ones of the interface where those differ. */
export const notificationKinds: ReadonlyMap<string, NotificationKind> = new Map([
  ['payment_intent.created', { generic: 'payment_intent.created', details: referenceDetails }],
  ['payment_intent.succeeded', intentKind('succeeded', 'succeeded')],
  ['payment_intent.payment_failed', intentKind('failed', 'failed')],
  ['payment_intent.failed', intentKind('failed', 'failed')],
  ['payment_intent.canceled', intentKind('canceled', 'canceled')],
  ['payment_intent.processing', intentKind('processing', 'processing')],
  ['payment_intent.amount_capturable_updated', intentKind('processing', 'processing')],
  ['payment_intent.requires_action', intentKind('requires_action', 'pending')],

  // The intent's own events tell of the same money; the charge's would tell it twice.
  ['charge.succeeded', chargeKind],
  ['charge.failed', chargeKind],
  ['charge.refunded', { generic: null, details: refundDetails }],
  ['charge.dispute.created', disputeKind],
  ['charge.dispute.updated', disputeKind],
  ['charge.dispute.closed', disputeKind],
  ['charge.dispute.funds_withdrawn', disputeKind],
  ['charge.dispute.funds_reinstated', disputeKind],

  ['payment_method.attached', methodKind('attached')],
  ['payment_method.detached', methodKind('detached')],
  ['payment_method.updated', methodKind('updated')],
  ['payment_method.automatically_updated', methodKind('updated')],

  ['customer.subscription.created', subscriptionKind('created')],
  ['customer.subscription.updated', subscriptionKind('updated')],
  ['customer.subscription.paused', subscriptionKind('updated', 'changed')],
  ['customer.subscription.resumed', subscriptionKind('updated', 'changed')],
  ['customer.subscription.deleted', subscriptionKind('deleted')],
  ['customer.subscription.trial_will_end', subscriptionKind('trial_will_end')],
  ['subscription.created', subscriptionKind('created')],
  ['subscription.updated', subscriptionKind('updated')],
  ['subscription.deleted', subscriptionKind('deleted')],
  ['subscription.trial_will_end', subscriptionKind('trial_will_end')],

  // `invoice.paid` tells the same, and also of invoices that were paid outside Stripe.
  ['invoice.payment_succeeded', invoiceKind('payment_succeeded', 'amount_paid')],
  ['invoice.payment_failed', invoiceKind('payment_failed', 'amount_due')],

  ['customer.created', customerKind('created')],
  ['customer.updated', customerKind('updated')],
  ['customer.deleted', customerKind('deleted')],
])
