// Authorize.Net's transactions in our terms: field formats, payment status, report, reversals and refunds.

import { decimalOf } from '@paylog/domain/currency'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { Reversal, StatusReport } from '@paylog/domain/payments/statusReports'
import { unitsOf } from '../fields.ts'
import { paymentIdEndingIn } from '../findableId.ts'
import type { ReportedRefund } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'
import type { Read, Transaction } from './api.ts'

/** All currencies have two decimals. */
export const toDecimal = (cents: number): string => decimalOf(cents, 2)
export const centsOf = (decimal: string): number | null => unitsOf(decimal, 2)

/**
 * The payment of an invoice number; `null` if the number does not have our form. Other systems on the same merchant
 * account may use other forms.
 */
export function paymentIdOf(invoiceNumber: string | null | undefined): string | null {
  return invoiceNumber && /^[0-9a-f]{20}$/.test(invoiceNumber) ? paymentIdEndingIn(invoiceNumber) : null
}

/** The schema's limit for descriptions. */
const maxTextLength = 255

/** Replaces control characters, which the gateway's XML does not allow, and cuts the text to the limit. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, maxTextLength)
    .toWellFormed()
}

/** The report fields that a transaction does not contain. */
export type ReportSource = Pick<StatusReport, 'provider_time' | 'provider_event_id' | 'currency'>

/**
 * @param status the payment status that follows from this transaction
 * @throws ProviderError when the amount is not a whole number of cents
 */
export function statusReportOf(transaction: Transaction, status: PaymentStatus, source: ReportSource): StatusReport {
  return {
    ...source,
    status,
    provider_intent_id: ownInvoiceOf(transaction),
    provider_payment_id: transaction.transId,
    amount_cents: amountOf(transaction, status === 'succeeded' ? 'settleAmount' : 'authAmount'),
    ...(isCapturable(transaction) && { capturable_cents: amountOf(transaction, 'authAmount') }),
    ...(status === 'failed' ? failureOf(transaction) : {}),
  }
}

/**
 * `settleAmount` is the money that moves, `authAmount` what was authorized.
 * @throws ProviderError when it is not a whole number of cents: a missing amount would pass as the right one
 */
export function amountOf(transaction: Transaction, which: 'settleAmount' | 'authAmount'): number {
  const cents = centsOf(transaction[which])
  if (cents === null) throw unreadableResponse('unreadable_answer')
  return cents
}

/** @returns the invoice number, or `null` if it does not have our form */
export function ownInvoiceOf({ order }: Transaction): string | null {
  const invoiceNumber = order?.invoiceNumber ?? null
  return paymentIdOf(invoiceNumber) === null ? null : invoiceNumber
}

function failureOf({ responseCode, responseReasonCode, transactionStatus }: Transaction) {
  return {
    failure_code: responseReasonCode ?? transactionStatus,
    failure_message: responseCode === '2' ? 'The payment was declined' : 'The payment failed at Authorize.Net',
  }
}

/** Payment status by the gateway's transaction status. */
const statusesByTransactionStatus: ReadonlyMap<string, PaymentStatus> = new Map(
  Object.entries({
    authorizedPendingCapture: 'processing',
    authorizedPendingRelease: 'processing',
    FDSPendingReview: 'processing',
    FDSAuthorizedPendingReview: 'processing',
    underReview: 'processing',
    capturedPendingSettlement: 'succeeded',
    pendingSettlement: 'succeeded',
    updatingSettlement: 'succeeded',
    pendingFinalSettlement: 'succeeded',
    settledSuccessfully: 'succeeded',
    // A dispute does not change the payment's status.
    chargeback: 'succeeded',
    chargebackReversal: 'succeeded',
    declined: 'failed',
    expired: 'failed',
    failedReview: 'failed',
    communicationError: 'failed',
    generalError: 'failed',
    settlementError: 'failed',
    // The bank did not honour the transfer.
    returnedItem: 'failed',
    voided: 'canceled',
  } as const),
)

/** With this status the response code holds the review's result. */
const isReviewed = (transactionStatus: string) => transactionStatus === 'approvedReview'

/** A refund is a separate transaction, not the payment. */
export function isRefund(transaction: {
  readonly transactionType?: string
  readonly transactionStatus: string
}): boolean {
  return transaction.transactionType === 'refundTransaction' || isRefunded(transaction)
}

/** Whether a refund was accepted and not voided. */
function isRefunded({ transactionStatus }: { readonly transactionStatus: string }): boolean {
  return transactionStatus.startsWith('refund')
}

/** Authorized, and not captured. */
export function isCapturable({ transactionStatus }: { readonly transactionStatus: string }): boolean {
  return transactionStatus === 'authorizedPendingCapture'
}

const settling: ReadonlySet<string> = new Set([
  'capturedPendingSettlement',
  'pendingSettlement',
  'updatingSettlement',
  'pendingFinalSettlement',
  'approvedReview',
])

/** Captured, and in no settled batch yet: it can be voided, and not refunded. */
export function isSettling({ transactionStatus }: { readonly transactionStatus: string }): boolean {
  return settling.has(transactionStatus)
}

/** The bank took the money of an eCheck back. */
const returned: ReadonlySet<string> = new Set(['returnedItem', 'chargeback'])
const reversed: ReadonlySet<string> = new Set([...returned, 'voided', 'settlementError'])

/** A returned eCheck can be a separate transaction, which names the charge. */
export function isReturn({ transactionStatus, refTransId }: Pick<Transaction, 'transactionStatus' | 'refTransId'>) {
  return returned.has(transactionStatus) && isTransactionId(refTransId ?? '')
}

const maxNoteLength = 100

/**
 * The charges whose money went back, if it had been received.
 * https://developer.authorize.net/api/reference/index.html#transaction-reporting-get-transaction-details
 */
export function reversalsOf(transaction: Transaction): Reversal[] {
  const { transId, refTransId, transactionStatus, returnedItems } = transaction
  if (reversed.has(transactionStatus)) {
    const charge = isReturn(transaction) ? (refTransId ?? transId) : transId
    return [{ provider_payment_id: charge, note: transactionStatus }]
  }
  const [item] = returnedItems ?? []
  if (!item) return []
  const note = ['returnedItem', item.code, item.description].filter(Boolean).join(' ').slice(0, maxNoteLength)
  return [{ provider_payment_id: transId, note }]
}

/** The gateway rejects other ids, so a call with one would be repeated for ever. */
export const isTransactionId = (text: string) => /^[0-9]{1,20}$/.test(text)

/** @returns `null` when only the transaction's details show the status */
export function statusOfTransactionStatus(transactionStatus: string): PaymentStatus | null {
  return statusesByTransactionStatus.get(transactionStatus) ?? null
}

/**
 * The payment status that follows from a transaction other than a refund.
 * @param transaction its details; `responseCode` 1 approved, 2 declined, 3 error, 4 held for review
 * @throws ProviderError for an approved transaction with an unknown status: it may have been reversed since
 */
export function statusOf(transaction: {
  readonly transactionType: string
  readonly transactionStatus: string
  readonly responseCode: string
}): PaymentStatus {
  const { transactionType, transactionStatus, responseCode } = transaction
  const known = statusOfTransactionStatus(transactionStatus)
  if (known !== null) return known
  if (responseCode === '2' || responseCode === '3') return 'failed'
  // An authorization alone moves no money, and a held transaction may still be declined.
  if (responseCode !== '1' || transactionType.startsWith('authOnly')) return 'processing'
  if (isReviewed(transactionStatus)) return 'succeeded'
  throw unreadableResponse('unknown_status')
}

/** The description of our refunds, which names them: the gateway has no other field that it returns. */
export const refundDescription = (refundId: string) => `Refund ${refundId}`

/** @returns our id of a refund; `null` for one that was made elsewhere */
export function refundIdOf({ order }: Transaction): string | null {
  const [, id] = /^Refund ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(order?.description ?? '') ?? []
  return id ?? null
}

/**
 * @param of `provider_event_id` of the notification about it
 * @returns `null` for a refund that was declined, and so gave nothing back
 * @throws ProviderError when the amount is unreadable
 */
export function reportedRefundOf(
  { body: refund, responded_at }: Read<Transaction>,
  of: Pick<StatusReport, 'currency'> & { readonly provider_intent_id: string; readonly provider_event_id?: string },
): ReportedRefund | null {
  const status = statusOfRefund(refund)
  if (status === null) return null
  const { transId, refTransId } = refund
  return {
    provider_time: responded_at,
    provider_event_id: of.provider_event_id ?? null,
    provider_intent_id: of.provider_intent_id,
    provider_payment_id: refTransId && isTransactionId(refTransId) ? refTransId : null,
    refund_id: refundIdOf(refund),
    provider_refund_id: transId,
    amount_cents: amountOf(refund, status === 'succeeded' ? 'settleAmount' : 'authAmount'),
    currency: of.currency,
    status,
    ...(status === 'failed' && { failure_code: refund.transactionStatus }),
  }
}

/** An accepted refund can be voided until it settles, and rejected by the settlement. */
function statusOfRefund(refund: Transaction): 'succeeded' | 'failed' | null {
  if (isRefunded(refund)) return 'succeeded'
  return ['voided', 'settlementError'].includes(refund.transactionStatus) ? 'failed' : null
}
