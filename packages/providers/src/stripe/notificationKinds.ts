// Every kind of Stripe event that means something to us: its generic name, and what is read from it.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import type { Details, Said } from './details.ts'
import { chargeDetails, disputeDetails, intentDetails, mentionDetails, refundDetails } from './paymentNotifications.ts'
import { customerDetails, invoiceDetails, methodDetails, subscriptionDetails } from './subscriptionNotifications.ts'

type Kind = {
  /** `null` where another event of Stripe's tells the same, or no generic name exists. */
  readonly generic: string | null
  readonly details?: (said: Said) => Partial<Details>
}

const intent = (generic: string, status: PaymentStatus): Kind => ({
  generic: `payment_intent.${generic}`,
  details: (said) => intentDetails(said, status),
})
const method = (generic: string): Kind => ({ generic: `payment_method.${generic}`, details: methodDetails })
const subscription = (generic: string, status: 'as_told' | 'changed' = 'as_told'): Kind => ({
  generic: `subscription.${generic}`,
  details: (said) => subscriptionDetails(said, status === 'changed'),
})
const invoice = (generic: string, paid: 'amount_paid' | 'amount_due'): Kind => ({
  generic: `invoice.${generic}`,
  details: (said) => invoiceDetails(said, paid),
})
const customer = (generic: string): Kind => ({ generic: `customer.${generic}`, details: customerDetails })
const charge: Kind = { generic: null, details: chargeDetails }
const dispute: Kind = { generic: null, details: disputeDetails }

/** By Stripe's names, and by the generic ones of the interface where those differ. */
export const kinds: ReadonlyMap<string, Kind> = new Map([
  ['payment_intent.created', { generic: 'payment_intent.created', details: mentionDetails }],
  ['payment_intent.succeeded', intent('succeeded', 'succeeded')],
  ['payment_intent.payment_failed', intent('failed', 'failed')],
  ['payment_intent.failed', intent('failed', 'failed')],
  ['payment_intent.canceled', intent('canceled', 'canceled')],
  ['payment_intent.processing', intent('processing', 'processing')],
  ['payment_intent.amount_capturable_updated', intent('processing', 'processing')],
  ['payment_intent.requires_action', intent('requires_action', 'pending')],

  // The intent's own events tell of the same money; the charge's would tell it twice.
  ['charge.succeeded', charge],
  ['charge.failed', charge],
  ['charge.refunded', { generic: null, details: refundDetails }],
  ['charge.dispute.created', dispute],
  ['charge.dispute.updated', dispute],
  ['charge.dispute.closed', dispute],
  ['charge.dispute.funds_withdrawn', dispute],
  ['charge.dispute.funds_reinstated', dispute],

  ['payment_method.attached', method('attached')],
  ['payment_method.detached', method('detached')],
  ['payment_method.updated', method('updated')],
  ['payment_method.automatically_updated', method('updated')],

  ['customer.subscription.created', subscription('created')],
  ['customer.subscription.updated', subscription('updated')],
  ['customer.subscription.paused', subscription('updated', 'changed')],
  ['customer.subscription.resumed', subscription('updated', 'changed')],
  ['customer.subscription.deleted', subscription('deleted')],
  ['customer.subscription.trial_will_end', subscription('trial_will_end')],
  ['subscription.created', subscription('created')],
  ['subscription.updated', subscription('updated')],
  ['subscription.deleted', subscription('deleted')],
  ['subscription.trial_will_end', subscription('trial_will_end')],

  // `invoice.paid` tells the same, and also of invoices that were paid outside Stripe.
  ['invoice.payment_succeeded', invoice('payment_succeeded', 'amount_paid')],
  ['invoice.payment_failed', invoice('payment_failed', 'amount_due')],

  ['customer.created', customer('created')],
  ['customer.updated', customer('updated')],
  ['customer.deleted', customer('deleted')],
])
