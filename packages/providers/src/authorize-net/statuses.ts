// What follows from the status of one transaction at Authorize.Net.
import type { Reversal } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { unreadableResponse } from '../responses.ts'
import type { Transaction } from './api.ts'

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
export function isRefunded({ transactionStatus }: { readonly transactionStatus: string }): boolean {
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
