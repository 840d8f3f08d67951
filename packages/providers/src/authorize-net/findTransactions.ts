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
/** The longest stretch that one call may ask for. */
const stretchMs = 31 * 24 * 60 * 60 * 1000
/** By so much the gateway's clock and ours may differ. */
const clockMarginMs = 60 * 60 * 1000

export type Search = {
  readonly api: Api
  readonly invoiceNumber: string
  readonly since: Date
  readonly deadline: Deadline
}

/**
 * What carries the invoice number, among all that is not settled and all that was settled within 31 days after `since`. A
 * token is good for minutes, what it charges settles within days, and what is held for review expires within 30 days, so
 * that nothing later can be of use.
 *
 * What is not settled comes first: a transaction that moves between the two questions is then found by one of them.
 * @throws ProviderError also when there is too much to read
 */
export async function findTransactions(search: Search): Promise<Answer<readonly TransactionSummary[]>> {
  const found = new Map<string, TransactionSummary>()
  const take = (lines: readonly TransactionSummary[]) => {
    for (const line of lines) if (line.invoiceNumber === search.invoiceNumber) found.set(line.transId, line)
  }
  await readList(search, 'getUnsettledTransactionList', {}, take)
  const { body: batchIds, answered_at } = await settledBatches(search)
  await inParallel(batchIds, (batchId) => readList(search, 'getTransactionList', { batchId }, take))
  return { body: [...found.values()], answered_at }
}

async function settledBatches({ api, since, deadline }: Search): Promise<Answer<readonly string[]>> {
  const first = earliest(since)
  const last = Math.max(first, Math.min(Date.now() + clockMarginMs, first + stretchMs))
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

const earliest = (since: Date) => since.getTime() - clockMarginMs
const toSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

/** Newest first, so that a list is left as soon as it is older than the payment. */
async function readList(
  { api, since, deadline }: Search,
  method: 'getUnsettledTransactionList' | 'getTransactionList',
  members: object,
  take: (lines: readonly TransactionSummary[]) => void,
): Promise<void> {
  for (let page = 1; page <= maxPages; page++) {
    const { body } = await api.repeatable({
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
    if (!oldest || lines.length < pageLength || Date.parse(oldest.submitTimeUTC) < earliest(since)) return
  }
  throw tooMuch()
}

/** Not to have found it in a part of the lists says nothing. */
function tooMuch(): ProviderError {
  return new ProviderError('unknown', 'search_too_large', 'There are too many transactions to search')
}

async function inParallel(items: readonly string[], work: (item: string) => Promise<void>): Promise<void> {
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
