// Authorize.Net's transactions: reading one, and the search for all of one invoice.

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import pMap from 'p-map'
import { ProviderError } from '../provider.ts'
import { type Api, nullIfNotFound, type Transaction, type TransactionSummary, transactionDetails } from './api.ts'
import {
  clockMarginMs,
  type ListReadOptions,
  type SettlementBatch,
  searchTooLargeError,
  type TimeRange,
  type TransactionLists,
} from './gateway.ts'
import { isRefund, isReturn, statusOf, statusOfTransactionStatus } from './statuses.ts'

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
export async function findTransactions(search: TransactionSearch): Promise<Read<readonly TransactionSummary[]>> {
  const { lists, invoiceNumber } = search
  const found = new Map<string, TransactionSummary>()
  const submitted = { first: search.submitted.first - clockMarginMs, last: search.submitted.last + clockMarginMs }
  const responseTimes: string[] = []
  let asOf = search.asOf
  // Refunds are submitted later than the payment.
  const latest = search.isWide ? Math.max(submitted.last, Date.now() + clockMarginMs) : submitted.last
  const take = async (batch: SettlementBatch | null) => {
    const range = batch ? submitted : { ...submitted, last: latest }
    for await (const { byInvoice, responded_at, endedAt } of lists.pages(batch, range, search)) {
      for (const summary of byInvoice.get(invoiceNumber) ?? []) found.set(summary.transId, summary)
      if (batch) continue
      responseTimes.push(responded_at)
      asOf = Math.max(asOf, endedAt)
    }
  }
  await take(null)
  for (const timeRange of timeRangesOf(search, Date.now() + clockMarginMs)) {
    const all = await lists.batches(timeRange, { asOf })
    const batches = all.filter(({ settledAt }) => settledAt >= timeRange.first && settledAt <= timeRange.last)
    if (batches.length > maxBatches) throw searchTooLargeError()
    await pMap(batches, take, { concurrency: parallelCalls })
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

/** What the gateway said, and when by its own clock, ISO 8601. */
export type Read<Body> = { readonly body: Body; readonly responded_at: string }

/** A transaction of an invoice with the payment status that follows from it. */
export type Attempt = Read<Transaction> & { readonly status: PaymentStatus }

/** Which of several transactions determines the payment's status; lowest first. */
const preference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  failed: 2,
  canceled: 3,
  pending: 4,
}

export type AttemptSearch = Omit<TransactionSearch, 'isEnough'> & { readonly api: Api }

/** Payers make few attempts. Attempts beyond this rank lower by their listed status. */
const maxDetails = 8

/** @returns `null` when the gateway has no such transaction @throws ProviderError */
export async function readTransaction(api: Api, transId: string): Promise<Read<Transaction> | null> {
  const call = { method: 'getTransactionDetails', members: { transId } }
  const found = await api.request(transactionDetails, call).catch(nullIfNotFound)
  return found && { body: found.body.transaction, responded_at: found.responded_at }
}

/** The transactions of an invoice: attempts to pay it, best first, and what went back. */
export type InvoiceTransactions = {
  readonly attempts: readonly Attempt[]
  readonly refunds: readonly Read<Transaction>[]
  /** Returned eChecks. */
  readonly returns: readonly Read<Transaction>[]
}

/**
 * @param known an attempt that was read already; it wins a tie
 * @returns the transactions of the invoice, and the time at which the lists were read
 * @throws ProviderError, also when one of them is unreadable
 */
export async function findAttempts(search: AttemptSearch, known: Attempt | null): Promise<Read<InvoiceTransactions>> {
  const isKnown = ({ transId }: TransactionSummary) => transId === known?.body.transId
  const hasSucceeded = (summary: TransactionSummary) =>
    isKnown(summary)
      ? known?.status === 'succeeded'
      : !isRefund(summary) && preferenceOf(summary) === preference.succeeded
  const found = await findTransactions({ ...search, isEnough: hasSucceeded })
  const others = found.body.filter((summary) => !isKnown(summary))
  const read = [
    ...(await readPreferred(
      search,
      others.filter((summary) => !isRefund(summary)),
    )),
    ...(await readPreferred(search, others.filter(isRefund))),
  ]
  const refunds = read.filter(({ body }) => isRefund(body))
  const returns = read.filter(({ body }) => isReturn(body))
  const paying = read
    .filter(({ body }) => !isRefund(body) && !isReturn(body))
    .map((response) => ({ ...response, status: statusOf(response.body) }))
  const attempts = [...(known ? [known] : []), ...paying].toSorted(
    (a, b) => preference[a.status] - preference[b.status],
  )
  return { body: { attempts, refunds, returns }, responded_at: found.responded_at }
}

/** An unknown status may be a success, so it ranks first. */
const preferenceOf = ({ transactionStatus }: TransactionSummary) =>
  preference[statusOfTransactionStatus(transactionStatus) ?? 'succeeded']

async function readPreferred(
  { api }: AttemptSearch,
  summaries: readonly TransactionSummary[],
): Promise<Read<Transaction>[]> {
  const candidates = summaries
    .map((summary) => ({ ...summary, rank: preferenceOf(summary) }))
    .toSorted((a, b) => a.rank - b.rank || compareIds(a.transId, b.transId))
    .slice(0, maxDetails)
  const found: Read<Transaction>[] = []
  for (const { transId } of candidates) {
    const response = await readTransaction(api, transId)
    if (!response) throw transactionMissingError()
    found.push(response)
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
