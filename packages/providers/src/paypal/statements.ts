// What a notification of PayPal says about a payment.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import type { Statement } from '../provider.ts'
import { type Amount, at, codeAt, type Envelope } from './notificationText.ts'

const statuses: Readonly<Record<string, PaymentStatus>> = {
  'CHECKOUT.ORDER.APPROVED': 'processing',
  'CHECKOUT.PAYMENT-APPROVAL.REVERSED': 'canceled',
  'PAYMENT.AUTHORIZATION.CREATED': 'processing',
  'PAYMENT.AUTHORIZATION.VOIDED': 'canceled',
  'PAYMENT.CAPTURE.COMPLETED': 'succeeded',
  'PAYMENT.CAPTURE.DECLINED': 'failed',
  'PAYMENT.CAPTURE.DENIED': 'failed',
  'PAYMENT.CAPTURE.PENDING': 'processing',
}

const refunds: ReadonlySet<string> = new Set(['PAYMENT.CAPTURE.REFUNDED', 'PAYMENT.CAPTURE.REVERSED'])

const captureLink = /\/captures?\/([A-Za-z0-9-]+)$/

export const isDispute = ({ event_type }: Envelope): boolean => event_type.startsWith('CUSTOMER.DISPUTE.')

/** @param said the amount, and the time of the statement */
export function statementOf(event: Envelope, said: Amount & { readonly provider_time: string }): Statement | null {
  const { id: provider_event_id, event_type, resource } = event
  const source = { provider_event_id, provider_time: said.provider_time, provider_intent_id: orderId(resource) }
  if (isDispute(event))
    return {
      about: 'dispute',
      ...source,
      provider_payment_id: codeAt(resource, 'disputed_transactions', 0, 'seller_transaction_id'),
      dispute_id: codeAt(resource, 'dispute_id'),
      dispute_status: codeAt(resource, 'status')?.toLowerCase() ?? 'unknown',
      disputed_cents: said.amount_cents,
    }
  if (refunds.has(event_type))
    return {
      about: 'refund',
      ...source,
      provider_payment_id: refundedCapture(event),
      refund_id: isRefund(event) ? codeAt(resource, 'id') : null,
      refunded_cents: said.amount_cents,
    }
  return statusStatement(event, said, source)
}

type Source = Pick<Statement, 'provider_event_id' | 'provider_time' | 'provider_intent_id'>

function statusStatement({ event_type, resource }: Envelope, said: Amount, source: Source): Statement | null {
  const status = Object.hasOwn(statuses, event_type) ? statuses[event_type] : undefined
  // Money that was taken without a word of how much cannot be held against the price; PayPal can be asked.
  if (!status || (status === 'succeeded' && said.amount_cents === null)) return null
  const isOrder = event_type.startsWith('CHECKOUT.')
  return {
    about: 'status',
    status,
    ...source,
    provider_intent_id: isOrder ? (codeAt(resource, 'id') ?? codeAt(resource, 'order_id')) : source.provider_intent_id,
    provider_payment_id: event_type.startsWith('PAYMENT.CAPTURE.') ? codeAt(resource, 'id') : null,
    amount_cents: said.amount_cents,
    currency: said.currency,
    ...(status === 'failed' ? failure(resource) : {}),
    ...(status === 'canceled' ? { reason: event_type.toLowerCase() } : {}),
  }
}

function failure(resource: unknown) {
  return {
    failure_code: codeAt(resource, 'status_details', 'reason')?.toLowerCase() ?? 'capture_declined',
    failure_message: 'PayPal could not take the payment',
  }
}

const orderId = (resource: unknown) => codeAt(resource, 'supplementary_data', 'related_ids', 'order_id')

/** The object is a refund, or in old notifications of a reversal the capture itself. */
const isRefund = ({ resource_type }: Envelope) => resource_type !== 'capture'

/** A refund names its capture by a link alone. */
function refundedCapture(event: Envelope): string | null {
  const { resource } = event
  const links = at(resource, 'links')
  const up = Array.isArray(links) ? links.find((link) => at(link, 'rel') === 'up') : undefined
  const named =
    captureLink.exec(codeAt(up, 'href') ?? '')?.[1] ??
    codeAt(resource, 'supplementary_data', 'related_ids', 'capture_id')
  return named ?? (isRefund(event) ? null : codeAt(resource, 'id'))
}
