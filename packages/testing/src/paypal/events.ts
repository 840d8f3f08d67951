// PayPal's notifications with their whole bodies.

import { paypalId } from './responses.ts'
import {
  type Authorization,
  type Capture,
  type Order,
  payee,
  payer,
  type Refund,
  representation,
  shownAuthorization,
  shownCapture,
  shownRefund,
} from './shownOrder.ts'

export type PaypalEvent = {
  readonly id: string
  readonly event_type: string
  /** The text that is signed and sent. */
  readonly body: string
}

export type PaymentSource = Readonly<Record<string, object>>

export type PaymentToken = {
  readonly id: string
  readonly customer: { readonly id: string }
  readonly payment_source: PaymentSource
}

type Resource = { readonly resource_type?: string; readonly resource_version?: string; readonly resource: object }

/** Creates a notification of any type. @param create_time default: now */
export function event(
  event_type: string,
  { resource, ...about }: Resource,
  create_time = new Date().toISOString(),
): PaypalEvent {
  const id = `WH-${paypalId()}-${paypalId()}`
  const self = `https://api.paypal.com/v1/notifications/webhooks-events/${id}`
  const links = [
    { href: self, rel: 'self', method: 'GET' },
    { href: `${self}/resend`, rel: 'resend', method: 'POST' },
  ]
  const summary = 'A summary by PayPal'
  const notification = { id, event_version: '1.0', create_time, ...about, event_type, summary, resource, links }
  // Escaped slashes are valid JSON, and are lost when a receiver re-serialises the body.
  return { id, event_type, body: JSON.stringify(notification).replaceAll('/', '\\/') }
}

export function orderApproved(order: Order, apiBase: string): PaypalEvent {
  const resource = representation(order, apiBase)
  return event('CHECKOUT.ORDER.APPROVED', { resource_type: 'checkout-order', resource_version: '2.0', resource })
}

export function orderCompleted(order: Order, apiBase: string): PaypalEvent {
  const resource = representation(order, apiBase)
  return event('CHECKOUT.ORDER.COMPLETED', { resource_type: 'checkout-order', resource_version: '2.0', resource })
}

/** Unlike other order notifications it has neither the whole order nor a resource type. */
export function approvalReversed({ id: order_id, unit }: Order): PaypalEvent {
  const { custom_id, invoice_id } = unit
  return event('CHECKOUT.PAYMENT-APPROVAL.REVERSED', {
    resource: {
      order_id,
      purchase_units: [{ reference_id: 'default', custom_id, invoice_id }],
      payment_source: { ideal: { name: 'Pat Example', country_code: 'NL' } },
    },
  })
}

export function captureEvent(
  event_type: `PAYMENT.CAPTURE.${'COMPLETED' | 'PENDING' | 'DENIED' | 'DECLINED'}`,
  order: Order,
  capture: Capture,
): PaypalEvent {
  const { amount, authorization_id } = capture
  const status = event_type.slice('PAYMENT.CAPTURE.'.length)
  const resource = {
    ...shownCapture(order, capture),
    status: status === 'DENIED' ? 'DECLINED' : status,
    seller_receivable_breakdown: { gross_amount: amount, paypal_fee: { ...amount, value: '0' }, net_amount: amount },
    supplementary_data: { related_ids: { order_id: order.id, ...(authorization_id && { authorization_id }) } },
  }
  return event(event_type, { resource_type: 'capture', resource_version: '2.0', resource })
}

export function authorizationEvent(
  event_type: `PAYMENT.AUTHORIZATION.${'CREATED' | 'VOIDED'}`,
  order: Order,
  authorization: Authorization,
): PaypalEvent {
  const supplementary_data = { related_ids: { order_id: order.id } }
  const resource = { ...shownAuthorization(order, authorization), supplementary_data }
  return event(event_type, { resource_type: 'authorization', resource_version: '2.0', resource })
}

export type RefundEventType = `PAYMENT.CAPTURE.${'REFUNDED' | 'REVERSED'}` | `PAYMENT.REFUND.${'PENDING' | 'FAILED'}`

/** A refund by the merchant or by PayPal. It only links to the capture. */
export function refundEvent(event_type: RefundEventType, refund: Refund): PaypalEvent {
  return event(event_type, { resource_type: 'refund', resource_version: '2.0', resource: shownRefund(refund) })
}

export type Dispute = {
  readonly dispute_id: string
  readonly create_time: string
  readonly order: Order
  readonly capture: Capture
  status: string
  outcome_code?: string
}

export function disputeEvent(
  event_type: `CUSTOMER.DISPUTE.${'CREATED' | 'UPDATED' | 'RESOLVED'}`,
  { dispute_id, create_time, order, capture, status, outcome_code }: Dispute,
): PaypalEvent {
  const { custom_id: custom, invoice_id: invoice_number } = order.unit
  const resource = {
    dispute_id,
    create_time,
    update_time: new Date().toISOString(),
    disputed_transactions: [
      {
        buyer_transaction_id: paypalId(),
        seller_transaction_id: capture.id,
        create_time: capture.create_time,
        transaction_status: 'COMPLETED',
        gross_amount: capture.amount,
        invoice_number,
        custom,
        buyer: { name: `${payer.name.given_name} ${payer.name.surname}` },
        seller: { merchant_id: payee.merchant_id, name: 'Example Shop' },
        items: [],
        seller_protection_eligible: true,
      },
    ],
    reason: 'MERCHANDISE_OR_SERVICE_NOT_RECEIVED',
    status,
    dispute_amount: capture.amount,
    ...(outcome_code === undefined
      ? { seller_response_due_date: '2026-12-31T23:59:59.000Z' }
      : { dispute_outcome: { outcome_code } }),
    dispute_life_cycle_stage: 'INQUIRY',
    dispute_channel: 'INTERNAL',
    links: [{ href: `https://api.paypal.com/v1/customer/disputes/${dispute_id}`, rel: 'self', method: 'GET' }],
  }
  return event(event_type, { resource_type: 'dispute', resource })
}

export function tokenCreated(token: PaymentToken, apiBase: string): PaypalEvent {
  const self = `${apiBase}/v3/vault/payment-tokens/${token.id}`
  const resource = {
    // PayPal writes the zone in letters.
    time_created: new Date().toISOString().replace('Z', 'PDT'),
    links: [
      { href: self, rel: 'self', method: 'GET', encType: 'application/json' },
      { href: self, rel: 'delete', method: 'DELETE', encType: 'application/json' },
    ],
    ...token,
  }
  return event('VAULT.PAYMENT-TOKEN.CREATED', { resource_type: 'payment_token', resource_version: '3.0', resource })
}

/** Does not name the customer, like PayPal's. */
export function tokenDeleted(id: string): PaypalEvent {
  const about = { resource_type: 'payment_token', resource_version: '3.0' }
  return event('VAULT.PAYMENT-TOKEN.DELETED', { ...about, resource: { id } })
}
