// What a notification of PayPal says about a payment.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { isPaymentType, statusOfGenericType } from '../genericEvent.ts'
import type { ProviderReport } from '../provider.ts'
import { captureFailure } from './captures.ts'
import { type Amount, valueAt, codeAt, type Envelope } from './notificationText.ts'

/** The types that tell the status. The others of an order tell of a step on the way, or of what its capture tells. */
const statuses: Readonly<Record<string, PaymentStatus>> = {
  'CHECKOUT.ORDER.APPROVED': 'processing',
  'CHECKOUT.ORDER.VOIDED': 'canceled',
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
const orderLink = /\/checkout\/orders\/([A-Za-z0-9-]+)$/

export const isDispute = ({ event_type }: Envelope): boolean => event_type.startsWith('CUSTOMER.DISPUTE.')

/** @param reported the amount, and the time of the statement */
export function reportOf(
  event: Envelope,
  reported: Amount & { readonly provider_time: string },
): ProviderReport | null {
  const { id: provider_event_id, event_type, resource } = event
  const source = { provider_event_id, provider_time: reported.provider_time, provider_intent_id: intentIn(event) }
  if (isDispute(event))
    return {
      about: 'dispute',
      ...source,
      provider_payment_id: codeAt(resource, 'disputed_transactions', 0, 'seller_transaction_id'),
      dispute_id: codeAt(resource, 'dispute_id'),
      dispute_status: codeAt(resource, 'status')?.toLowerCase() ?? 'unknown',
      disputed_cents: reported.amount_cents,
    }
  if (refunds.has(event_type))
    return {
      about: 'refund',
      ...source,
      provider_payment_id: refundedCapture(event),
      refund_id: isRefund(event) ? codeAt(resource, 'id') : null,
      refunded_cents: reported.amount_cents,
    }
  return statusReport(event, reported, source)
}

type ReportSource = Pick<ProviderReport, 'provider_event_id' | 'provider_time' | 'provider_intent_id'>

function statusReport(event: Envelope, reported: Amount, source: ReportSource): ProviderReport | null {
  const { event_type, resource } = event
  const status = Object.hasOwn(statuses, event_type) ? statuses[event_type] : statusOfGenericType(event_type)
  if (!status) return isReference(event) ? { about: 'mention', ...source, provider_payment_id: null } : null
  const { amount_cents, currency } = reported
  // Money that was taken without a word of how much cannot be held against the price; PayPal can be asked.
  if (status === 'succeeded' && (amount_cents === null || currency === null)) return null
  return {
    about: 'status',
    status,
    ...source,
    provider_payment_id: event_type.startsWith('PAYMENT.CAPTURE.') ? codeAt(resource, 'id') : null,
    amount_cents,
    currency,
    ...(status === 'failed' ? captureFailure(codeAt(resource, 'status_details', 'reason')) : {}),
    ...(status === 'canceled' ? { reason: event_type.toLowerCase() } : {}),
  }
}

/** An order that is completed says less than its capture, of which PayPal tells as well. */
const isReference = ({ event_type }: Envelope) => event_type.startsWith('CHECKOUT.ORDER.') || isPaymentType(event_type)

/** By a generic name the object is the order, unless it names one. */
function intentIn({ event_type, resource }: Envelope): string | null {
  if (event_type.startsWith('CHECKOUT.')) return codeAt(resource, 'id') ?? codeAt(resource, 'order_id')
  const named = orderIn(resource)
  return isPaymentType(event_type) ? (named ?? codeAt(resource, 'id')) : named
}

/** The order that a capture, or whatever else, is of. Some do not name it and link to it. */
function orderIn(resource: unknown): string | null {
  return codeAt(resource, 'supplementary_data', 'related_ids', 'order_id') ?? linkedUp(resource, orderLink)
}

function linkedUp(resource: unknown, link: RegExp): string | null {
  const links = valueAt(resource, 'links')
  const up = Array.isArray(links) ? links.find((each) => valueAt(each, 'rel') === 'up') : undefined
  return link.exec(codeAt(up, 'href') ?? '')?.[1] ?? null
}

/** The object is a refund, or in old notifications of a reversal the capture itself. */
const isRefund = ({ resource_type }: Envelope) => resource_type !== 'capture'

/** A refund names its capture by a link alone. */
function refundedCapture(event: Envelope): string | null {
  const { resource } = event
  const named = linkedUp(resource, captureLink) ?? codeAt(resource, 'supplementary_data', 'related_ids', 'capture_id')
  return named ?? (isRefund(event) ? null : codeAt(resource, 'id'))
}
