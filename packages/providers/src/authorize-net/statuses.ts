// What the state of a transaction at Authorize.Net means for a payment.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { unreadableResponse } from '../answers.ts'

/** The gateway's words for the state of a transaction. */
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
    // The payment was made; that it is contested is another matter.
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

/** A word that leaves it to the response code what came of the review. */
const isReviewed = (transactionStatus: string) => transactionStatus === 'approvedReview'

/** A refund is a transaction of its own, and is not the payment. */
export function isRefund(transaction: {
  readonly transactionType?: string
  readonly transactionStatus: string
}): boolean {
  return transaction.transactionType === 'refundTransaction' || isRefunded(transaction)
}

/** Whether a refund was accepted, and not called back. */
export function isRefunded({ transactionStatus }: { readonly transactionStatus: string }): boolean {
  return transactionStatus.startsWith('refund')
}

/** What a word in a list says; `null` when only the transaction's details can tell. */
export function statusOfTransactionStatus(transactionStatus: string): PaymentStatus | null {
  return statusesByTransactionStatus.get(transactionStatus) ?? null
}

/**
 * The status of the payment that a transaction, which is no refund, is.
 * @param transaction as its details tell it; `responseCode` 1 approved, 2 declined, 3 error, 4 held for review
 * @throws ProviderError for a word that is not known on what was approved: it may have been taken back since
 */
export function statusOf(transaction: {
  readonly transactionType: string
  readonly transactionStatus: string
  readonly responseCode: string
}): PaymentStatus {
  const { transactionType, transactionStatus, responseCode } = transaction
  const word = statusOfTransactionStatus(transactionStatus)
  if (word !== null) return word
  if (responseCode === '2' || responseCode === '3') return 'failed'
  // An authorization alone moves no money, and what is held may still be refused.
  if (responseCode !== '1' || transactionType.startsWith('authOnly')) return 'processing'
  if (isReviewed(transactionStatus)) return 'succeeded'
  throw unreadableResponse('unknown_status')
}
