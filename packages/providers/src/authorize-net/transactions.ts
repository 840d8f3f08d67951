// Authorize.Net's transactions: the payment status that follows from one, and the search for all of one invoice.

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { ProviderError } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'
import {
  type Api,
  type ApiResponse,
  AuthorizeNetError,
  type Deadline,
  startDeadline,
  type Transaction,
  type TransactionSummary,
  transactionDetails,
} from './api.ts'
import {
  clockMarginMs,
  type ListReadOptions,
  type SettlementBatch,
  searchTooLargeError,
  type TimeRange,
  type TransactionLists,
} from './gateway.ts'

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

/** @returns `null` when only the transaction's details show the status */
function statusOfTransactionStatus(transactionStatus: string): PaymentStatus | null {
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

/** The gateway closes one batch per day and payment type. */
const maxBatches = 200
const parallelCalls = 4
/** Batches close daily; this allows for weekends, holidays and a late processor. */
const settlingMs = 3 * 24 * 60 * 60 * 1000
/** The longest life of an authorization or a review. */
const reviewMs = 30 * 24 * 60 * 60 * 1000

export type TransactionSearch = ListReadOptions & {
  readonly lists: TransactionLists
  readonly invoiceNumber: string
  /** When its transactions were submitted. */
  readonly submitted: TimeRange
  /** Whether to search batches that were settled late, too. */
  readonly isWide: boolean
  /** Whether this transaction ends the search before the late batches. */
  readonly isEnough: (summary: TransactionSummary) => boolean
}

/**
 * Searches the unsettled list and the settled batches for an invoice number, because the gateway has no such query.
 *
 * A hosted token is valid for 15 minutes, so its transaction is submitted soon after the payment was created, and is in
 * the unsettled list until its batch settles within days. Only a review or a late capture moves it to a later batch.
 * Late batches are searched only when a transaction is known to exist: unpaid payments are checked often, and would
 * read a month of batches each time.
 *
 * The unsettled list is read first, and the batch list is at least as recent, so that a transaction that moves between
 * the two is found.
 * @returns the transactions, and the time of the oldest response about unsettled ones
 * @throws ProviderError, also when there is too much to read
 */
async function findTransactions(search: TransactionSearch): Promise<ApiResponse<readonly TransactionSummary[]>> {
  const { lists, invoiceNumber, deadline } = search
  const found = new Map<string, TransactionSummary>()
  const submitted = { first: search.submitted.first - clockMarginMs, last: search.submitted.last + clockMarginMs }
  const responseTimes: string[] = []
  let asOf = search.asOf
  const take = async (batch: SettlementBatch | null) => {
    for await (const { byInvoice, responded_at, endedAt } of lists.pages(batch, submitted, search)) {
      for (const summary of byInvoice.get(invoiceNumber) ?? []) found.set(summary.transId, summary)
      if (batch) continue
      responseTimes.push(responded_at)
      asOf = Math.max(asOf, endedAt)
    }
  }
  await take(null)
  for (const timeRange of timeRangesOf(search, Date.now() + clockMarginMs)) {
    const all = await lists.batches(timeRange, { deadline, asOf })
    const batches = all.filter(({ settledAt }) => settledAt >= timeRange.first && settledAt <= timeRange.last)
    if (batches.length > maxBatches) throw searchTooLargeError()
    await inParallel(batches, take)
    if ([...found.values()].some(search.isEnough)) break
  }
  return { body: [...found.values()], responded_at: responseTimes.toSorted()[0] ?? '' }
}

/** Returns at least one range, even when the clocks differ. */
function timeRangesOf({ submitted, isWide }: TransactionSearch, end: number): TimeRange[] {
  const first = submitted.first - clockMarginMs
  const usual = { first, last: Math.max(first, Math.min(end, submitted.last + settlingMs)) }
  const late = { first: usual.last, last: Math.min(end, submitted.last + reviewMs) }
  return isWide && late.first < late.last ? [usual, late] : [usual]
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      try {
        await work(item)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: parallelCalls }, lane))
}

/** A transaction of an invoice with the payment status that follows from it. */
export type Attempt = ApiResponse<Transaction> & { readonly status: PaymentStatus }

/** Which of several transactions determines the payment's status; lowest first. */
const preference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  failed: 2,
  canceled: 3,
  pending: 4,
}

/** `timeoutMs`: for one details call. */
export type AttemptSearch = Omit<TransactionSearch, 'isEnough'> & { readonly api: Api; readonly timeoutMs: number }

/** Payers make few attempts. Attempts beyond this rank lower by their listed status. */
const maxDetails = 8

/** The gateway rejects other ids, so a call with one would be repeated for ever. */
export const isTransactionId = (text: string) => /^[0-9]{1,20}$/.test(text)

/** @returns `null` when the gateway has no such transaction @throws ProviderError */
export async function readTransaction(
  api: Api,
  transId: string,
  deadline: Deadline,
): Promise<ApiResponse<Transaction> | null> {
  try {
    const { body, responded_at } = await api.idempotent({
      method: 'getTransactionDetails',
      members: { transId },
      response: transactionDetails,
      deadline,
    })
    return { body: body.transaction, responded_at }
  } catch (error) {
    if (error instanceof AuthorizeNetError && error.code === 'E00040') return null
    throw error
  }
}

/**
 * @param known an attempt that was read already; it wins a tie
 * @returns the attempts of the invoice, best first, and the time at which the lists were read
 * @throws ProviderError, also when one of them is unreadable
 */
export async function findAttempts(
  search: AttemptSearch,
  known: Attempt | null,
): Promise<ApiResponse<readonly Attempt[]>> {
  const isKnown = ({ transId }: TransactionSummary) => transId === known?.body.transId
  const hasSucceeded = (summary: TransactionSummary) =>
    isKnown(summary)
      ? known?.status === 'succeeded'
      : !isRefund(summary) && preferenceOf(summary) === preference.succeeded
  const found = await findTransactions({ ...search, isEnough: hasSucceeded })
  const others = found.body.filter((summary) => !isKnown(summary))
  const all = [...(known ? [known] : []), ...(await readPreferred(search, others))]
  return {
    body: all.toSorted((a, b) => preference[a.status] - preference[b.status]),
    responded_at: found.responded_at,
  }
}

/** An unknown status may be a success, so it ranks first. */
const preferenceOf = ({ transactionStatus }: TransactionSummary) =>
  preference[statusOfTransactionStatus(transactionStatus) ?? 'succeeded']

async function readPreferred(
  { api, timeoutMs, deadline }: AttemptSearch,
  summaries: readonly TransactionSummary[],
): Promise<Attempt[]> {
  const candidates = summaries
    .filter((summary) => !isRefund(summary))
    .map((summary) => ({ ...summary, rank: preferenceOf(summary) }))
    .toSorted((a, b) => a.rank - b.rank || compareIds(a.transId, b.transId))
    .slice(0, maxDetails)
  const found: Attempt[] = []
  for (const { transId } of candidates) {
    const response = await readTransaction(api, transId, startDeadline(Math.min(timeoutMs, deadline.leftMs())))
    if (!response) throw transactionMissingError()
    if (!isRefund(response.body)) found.push({ ...response, status: statusOf(response.body) })
  }
  return found
}

/** The list contains the transaction, but its details are missing, so the outcome is unknown. */
function transactionMissingError(): ProviderError {
  return new ProviderError(
    'unknown',
    'transaction_not_found',
    'Authorize.Net does not know the outcome of this transaction yet',
  )
}

/** Ids grow with time. A fixed order ensures that of two charges always the same one is the payment's. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || a.localeCompare(b)
}
