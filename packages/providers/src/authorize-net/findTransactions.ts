// The search for the transactions of one invoice. The gateway has no query for it: its lists are read, within bounds.
import { ProviderError } from '../provider.ts'
import { batchList, type TransactionSummary, transactionList } from './answers.ts'
import type { Answer, Api, Deadline } from './api.ts'

/** The gateway's maximum. */
const pageLength = 1_000
const maxPages = 20
/** One is closed per day and kind of payment. */
const maxBatches = 200
const parallelCalls = 4
/** A batch is closed every day; weekends, holidays and a late processor are in this. */
const settlingMs = 3 * 24 * 60 * 60 * 1000
/** The longest that an authorization holds, or a review waits. With this a stretch is within the 31 days of one call. */
const heldMs = 30 * 24 * 60 * 60 * 1000
/** By so much the gateway's clock and ours may differ. */
const clockMarginMs = 60 * 60 * 1000

export type Search = {
  readonly api: Api
  readonly invoiceNumber: string
  /** When its transactions were submitted, in ms since 1970. */
  readonly submitted: { readonly first: number; readonly last: number }
  /** Whether to look for what was settled late, too. */
  readonly isWide: boolean
  readonly deadline: Deadline
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
 * What is not settled comes first: a transaction that moves between the two questions is then found by one of them.
 * @throws ProviderError also when there is too much to read
 */
export async function findTransactions(search: Search): Promise<Answer<readonly TransactionSummary[]>> {
  const found = new Map<string, TransactionSummary>()
  const take = (lines: readonly TransactionSummary[]) => {
    for (const line of lines) if (line.invoiceNumber === search.invoiceNumber) found.set(line.transId, line)
  }
  let answered_at = await readList(search, 'getUnsettledTransactionList', {}, take)
  for (const stretch of stretchesOf(search, Date.now() + clockMarginMs)) {
    const batches = await settledBatches(search, stretch)
    answered_at = batches.answered_at
    await inParallel(batches.body, (batchId) => readList(search, 'getTransactionList', { batchId }, take))
    if ([...found.values()].some(search.isEnough)) break
  }
  return { body: [...found.values()], answered_at }
}

type Stretch = { readonly first: number; readonly last: number }

/** At least one, however the clocks differ. */
function stretchesOf({ submitted, isWide }: Search, end: number): Stretch[] {
  const first = earliest(submitted)
  const usual = { first, last: Math.max(first, Math.min(end, submitted.last + settlingMs)) }
  const late = { first: usual.last, last: Math.min(end, submitted.last + heldMs) }
  return isWide && late.first < late.last ? [usual, late] : [usual]
}

async function settledBatches({ api, deadline }: Search, { first, last }: Stretch): Promise<Answer<readonly string[]>> {
  const { body, answered_at } = await api.repeatable({
    method: 'getSettledBatchList',
    members: { firstSettlementDate: toSecond(first), lastSettlementDate: toSecond(last) },
    answer: batchList,
    deadline,
  })
  const batches = body.batchList ?? []
  if (batches.length > maxBatches) throw tooMuch()
  return { body: batches.map(({ batchId }) => batchId), answered_at }
}

const earliest = ({ first }: Search['submitted']) => first - clockMarginMs
const toSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

/**
 * Newest first, so that a list is left as soon as it is older than the payment.
 * @returns the time of the last answer
 */
async function readList(
  { api, submitted, deadline }: Search,
  method: 'getUnsettledTransactionList' | 'getTransactionList',
  members: object,
  take: (lines: readonly TransactionSummary[]) => void,
): Promise<string> {
  for (let page = 1; page <= maxPages; page++) {
    const { body, answered_at } = await api.repeatable({
      method,
      members: {
        ...members,
        sorting: { orderBy: 'submitTimeUTC', orderDescending: true },
        // The offset counts pages.
        paging: { limit: pageLength, offset: page },
      },
      answer: transactionList,
      deadline,
    })
    const lines = body.transactions ?? []
    take(lines)
    const oldest = lines.at(-1)
    if (!oldest || lines.length < pageLength || Date.parse(oldest.submitTimeUTC) < earliest(submitted))
      return answered_at
  }
  throw tooMuch()
}

/** Not to have found it in a part of the lists says nothing. */
function tooMuch(): ProviderError {
  return new ProviderError('unknown', 'search_too_large', 'There are too many transactions to search')
}

async function inParallel(items: readonly string[], work: (item: string) => Promise<unknown>): Promise<void> {
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
