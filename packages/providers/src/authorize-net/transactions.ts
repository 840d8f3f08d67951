// What the state of a transaction at Authorize.Net means for a payment.

import type { Evidence } from '@paylog/domain/payments/evidence'
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
import { centsOf, isInvoiceNumber } from './fields.ts'
import {
  clockMarginMs,
  type ListReadOptions,
  type SettlementBatch,
  searchTooLargeError,
  type TimeRange,
  type TransactionLists,
} from './gateway.ts'

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
function statusOfTransactionStatus(transactionStatus: string): PaymentStatus | null {
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

// A transaction's details, as a statement about the payment that it belongs to.

/** What no transaction says of itself. */
export type EvidenceSource = Pick<Evidence, 'provider_time' | 'provider_event_id' | 'currency'>

/**
 * @param status of the payment by this transaction
 * @throws ProviderError when the amount cannot be told in cents
 */
export function evidenceOf(transaction: Transaction, status: PaymentStatus, source: EvidenceSource): Evidence {
  return {
    ...source,
    status,
    provider_intent_id: ownInvoiceOf(transaction),
    provider_payment_id: transaction.transId,
    amount_cents: amountOf(transaction, status === 'succeeded' ? 'settleAmount' : 'authAmount'),
    ...(status === 'failed' ? failureOf(transaction) : {}),
  }
}

/**
 * Which amount matters depends on what happened: `settleAmount` is the money that moves.
 * @throws ProviderError when it is not a whole number of cents: «not said» would count as «the right amount»
 */
export function amountOf(transaction: Transaction, which: 'settleAmount' | 'authAmount'): number {
  const cents = centsOf(transaction[which])
  if (cents === null) throw unreadableResponse('unreadable_answer')
  return cents
}

/** The invoice number, if it has the form of ours. */
export function ownInvoiceOf({ order }: Transaction): string | null {
  const invoiceNumber = order?.invoiceNumber ?? ''
  return isInvoiceNumber(invoiceNumber) ? invoiceNumber : null
}

function failureOf({ responseCode, responseReasonCode, transactionStatus }: Transaction) {
  return {
    failure_code: responseReasonCode ?? transactionStatus,
    failure_message: responseCode === '2' ? 'The payment was declined' : 'The payment failed at Authorize.Net',
  }
}

// The search for the transactions of one invoice. The gateway has no query for it: its lists are read, within bounds.

/** One is closed per day and kind of payment. */
const maxBatches = 200
const parallelCalls = 4
/** A batch is closed every day; weekends, holidays and a late processor are in this. */
const settlingMs = 3 * 24 * 60 * 60 * 1000
/** The longest that an authorization holds, or a review waits. */
const reviewMs = 30 * 24 * 60 * 60 * 1000

export type TransactionSearch = ListReadOptions & {
  readonly lists: TransactionLists
  readonly invoiceNumber: string
  /** When its transactions were submitted. */
  readonly submitted: TimeRange
  /** Whether to look for what was settled late, too. */
  readonly isWide: boolean
  /** Whether a transaction makes it needless to look for what was settled late. */
  readonly isEnough: (line: TransactionSummary) => boolean
}

/**
 * What carries the invoice number, among all that is not settled and all that was settled when it can have been.
 *
 * A hosted token is good for 15 minutes, so that what it charges is submitted soon after the payment was opened, and is
 * in a batch that is settled within days of that; until then it is in the list of what is not settled. Later batches are
 * a payment's only when a review or a late capture held it up. That is looked for only where a transaction is known to
 * exist: a payment that was never paid is asked about again and again, and would have months of batches read each time.
 *
 * What is not settled comes first, and the list of batches is not older: a transaction that moves between the two
 * questions is then found by one of them.
 * @returns with the time of the oldest answer about what is not settled
 * @throws ProviderError also when there is too much to read
 */
async function findTransactions(search: TransactionSearch): Promise<ApiResponse<readonly TransactionSummary[]>> {
  const { lists, invoiceNumber, deadline } = search
  const found = new Map<string, TransactionSummary>()
  const submitted = { first: search.submitted.first - clockMarginMs, last: search.submitted.last + clockMarginMs }
  const responseTimes: string[] = []
  let asOf = search.asOf
  const take = async (batch: SettlementBatch | null) => {
    for await (const { byInvoice, responded_at: answered_at, endedAt } of lists.pages(batch, submitted, search)) {
      for (const line of byInvoice.get(invoiceNumber) ?? []) found.set(line.transId, line)
      if (batch) continue
      responseTimes.push(answered_at)
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

/** At least one, however the clocks differ. */
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

// The attempts to pay one invoice: its transactions with what each means for the payment, the best one first.

export type Attempt = ApiResponse<Transaction> & { readonly status: PaymentStatus }

/** Of several transactions of one payment, the one that counts. */
const preference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  failed: 2,
  canceled: 3,
  pending: 4,
}

/** `timeoutMs` of one call for details. */
export type AttemptSearch = Omit<TransactionSearch, 'isEnough'> & { readonly api: Api; readonly timeoutMs: number }

/** A payer tries a few times; of what lies beyond, the lists have told that it is worth less. */
const maxDetails = 8

/** @returns `null` when the gateway knows no such transaction @throws ProviderError */
export async function readTransaction(
  api: Api,
  transId: string,
  deadline: Deadline,
): Promise<ApiResponse<Transaction> | null> {
  try {
    const { body, responded_at: answered_at } = await api.idempotent({
      method: 'getTransactionDetails',
      members: { transId },
      response: transactionDetails,
      deadline,
    })
    return { body: body.transaction, responded_at: answered_at }
  } catch (error) {
    if (error instanceof AuthorizeNetError && error.code === 'E00040') return null
    throw error
  }
}

/**
 * @param known one that need not be found, and is the first among its equals
 * @returns all of the invoice, the best one first, and the time at which the lists were read
 * @throws ProviderError also when one of them says nothing that can be read
 */
export async function findAttempts(
  search: AttemptSearch,
  known: Attempt | null,
): Promise<ApiResponse<readonly Attempt[]>> {
  const isKnown = ({ transId }: TransactionSummary) => transId === known?.body.transId
  const hasSucceeded = (line: TransactionSummary) =>
    isKnown(line) ? known?.status === 'succeeded' : !isRefund(line) && preferenceOf(line) === preference.succeeded
  const found = await findTransactions({ ...search, isEnough: hasSucceeded })
  const others = found.body.filter((line) => !isKnown(line))
  const all = [...(known ? [known] : []), ...(await readPreferred(search, others))]
  return {
    body: all.toSorted((a, b) => preference[a.status] - preference[b.status]),
    responded_at: found.responded_at,
  }
}

/** A word that is not known may mean anything, the best included. */
const preferenceOf = ({ transactionStatus }: TransactionSummary) =>
  preference[statusOfTransactionStatus(transactionStatus) ?? 'succeeded']

async function readPreferred(
  { api, timeoutMs, deadline }: AttemptSearch,
  lines: readonly TransactionSummary[],
): Promise<Attempt[]> {
  const candidates = lines
    .filter((line) => !isRefund(line))
    .map((line) => ({ ...line, worth: preferenceOf(line) }))
    .toSorted((a, b) => a.worth - b.worth || compareIds(a.transId, b.transId))
    .slice(0, maxDetails)
  const found: Attempt[] = []
  for (const { transId } of candidates) {
    const response = await readTransaction(api, transId, startDeadline(Math.min(timeoutMs, deadline.leftMs())))
    if (!response) throw transactionMissingError()
    if (!isRefund(response.body)) found.push({ ...response, status: statusOf(response.body) })
  }
  return found
}

/** A list has it and the details have not: nobody can tell what became of it. */
function transactionMissingError(): ProviderError {
  return new ProviderError('unknown', 'transaction_not_found', 'Authorize.Net cannot tell yet what became of this')
}

/** Ids grow with time. The order has to be the same each time: of two charges always the same one is the payment's. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || a.localeCompare(b)
}
