// The search for the transactions of one invoice. The gateway has no query for it: its lists are read, within bounds.
import type { TransactionSummary } from './answers.ts'
import type { ApiResponse } from './api.ts'
import { searchTooLargeError } from './searchErrors.ts'
import {
  type SettlementBatch,
  clockMarginMs,
  type ListReadOptions,
  type TimeRange,
  type TransactionLists,
} from './transactionLists.ts'

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
export async function findTransactions(search: TransactionSearch): Promise<ApiResponse<readonly TransactionSummary[]>> {
  const { lists, invoiceNumber, deadline } = search
  const found = new Map<string, TransactionSummary>()
  const submitted = { first: search.submitted.first - clockMarginMs, last: search.submitted.last + clockMarginMs }
  const responseTimes: string[] = []
  let asOf = search.asOf
  const take = async (batch: SettlementBatch | null) => {
    for await (const { byInvoice, answered_at, endedAt } of lists.pages(batch, submitted, search)) {
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
  return { body: [...found.values()], answered_at: responseTimes.toSorted()[0] ?? '' }
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
