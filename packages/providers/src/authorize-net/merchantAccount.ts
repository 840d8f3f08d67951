// The merchant account at Authorize.Net: its API, its currency, and the search through its transaction lists. Each page of
// a list is read once for all payments that are searched for in the same round.
import pMap from 'p-map'
import type { Pace } from '../pacing.ts'
import { ProviderError } from '../provider.ts'
import { waitForShared, withTimeLimit } from '../timeLimit.ts'
import {
  type Account,
  type Api,
  batchList,
  createApi,
  merchantDetails,
  type Read,
  type TransactionSummary,
  transactionList,
} from './api.ts'

export type MerchantAccount = {
  readonly api: Api
  readonly lists: TransactionLists
  /** Gives a search through the lists more time, if it is background work. */
  search<Result>(work: () => Result): Result
  /**
   * The currency of the account. Transactions do not name their currency.
   * @returns `null` when the account has several, or when the gateway does not respond
   */
  currency(): Promise<string | null>
}

/** Short, because everything else about a payment is known without the currency. */
const currencyTimeoutMs = 2_000

export function createMerchantAccount(options: {
  readonly account: Account
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): MerchantAccount {
  const api = createApi(options)
  let known: Promise<string | null> | undefined

  async function readCurrency(): Promise<string | null> {
    const { body } = await api.request(merchantDetails, { method: 'getMerchantDetails', repeat: 'once' })
    const [currency = null, ...others] = body.currencies
    return others.length > 0 ? null : currency
  }

  return {
    api,
    lists: createTransactionLists(api, options.timeoutMs),
    search(work) {
      const patienceMs = options.pace.patienceMs()
      return patienceMs > options.timeoutMs ? withTimeLimit(patienceMs, work) : work()
    },
    currency() {
      known ??= withTimeLimit(currencyTimeoutMs, readCurrency).catch((error: unknown) => {
        // It is repeated with the next transaction.
        known = undefined
        if (!(error instanceof ProviderError)) throw error
        return null
      })
      return waitForShared(known, () => null)
    },
  }
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

/** The gateway's maximum. */
const pageLength = 1_000
/** Per list, which makes 100,000 transactions. */
const maxPages = 100
/** Cached pages of all lists. */
const maxKeptPages = 200
const dayMs = 24 * 60 * 60 * 1000
/** One call can cover at most 31 days. */
const windowMs = 30 * dayMs

/** The largest expected difference between the gateway's clock and ours. */
export const clockMarginMs = 60 * 60 * 1000

/** In ms since 1970. */
type TimeRange = { readonly first: number; readonly last: number }

/** `asOf`: the search accepts cached pages read since this time, in ms since 1970, by our clock. */
type ListReadOptions = { readonly asOf: number }

type TransactionPage = {
  readonly byInvoice: ReadonlyMap<string, readonly TransactionSummary[]>
  /** The gateway's clock, ISO 8601. */
  readonly responded_at: string
  /** When the response arrived, by our clock. */
  readonly endedAt: number
}
type CachedPage = TransactionPage & { readonly isLast: boolean; readonly lastSubmittedAt: number }

/** `settledAt` in ms since 1970. */
type SettlementBatch = { readonly batchId: string; readonly settledAt: number }

type TransactionLists = {
  /**
   * The pages with the transactions submitted in a time range, and perhaps others. Reads the list from the nearer end
   * and stops after the range.
   * @param batch `null` for the list of unsettled transactions
   * @throws ProviderError, also when there is too much to read
   */
  pages(batch: SettlementBatch | null, range: TimeRange, options: ListReadOptions): AsyncGenerator<TransactionPage>
  /** The batches settled in a time range, and in the month around it. @throws ProviderError */
  batches(range: TimeRange, options: ListReadOptions): Promise<readonly SettlementBatch[]>
}

/** @param timeoutMs of each call, independent of the searches that wait for it */
function createTransactionLists(api: Api, timeoutMs: number): TransactionLists {
  const cachedPage = createReadCache<CachedPage>(maxKeptPages)
  const cachedBatches = createReadCache<readonly SettlementBatch[]>(maxKeptPages)

  async function* pages(batch: SettlementBatch | null, { first, last }: TimeRange, { asOf }: ListReadOptions) {
    // A list covers about a day, and older transactions are at its other end.
    const orderDescending = last > (batch?.settledAt ?? Date.now()) - dayMs
    for (let offset = 1; offset <= maxPages; offset++) {
      const key = `${batch?.batchId ?? 'unsettled'} ${orderDescending} ${offset}`
      const read = () => withTimeLimit(timeoutMs, () => readPage(api, batch, { orderDescending, offset }))
      // A settled batch does not change, so its pages never expire.
      const page = await waitForShared(cachedPage(key, batch ? 0 : asOf, read), throwSearchTimeout)
      yield page
      if (page.isLast || (orderDescending ? page.lastSubmittedAt < first : page.lastSubmittedAt > last)) return
    }
    throw searchTooLargeError()
  }

  async function batches({ first, last }: TimeRange, { asOf }: ListReadOptions): Promise<readonly SettlementBatch[]> {
    const found: SettlementBatch[] = []
    // All searches use the same month boundaries, so that they share the cached responses.
    for (let month = Math.floor(first / windowMs); month <= Math.floor(last / windowMs); month++) {
      const read = () => withTimeLimit(timeoutMs, () => readBatches(api, month * windowMs))
      found.push(...(await waitForShared(cachedBatches(String(month), asOf, read), throwSearchTimeout)))
    }
    return found
  }

  return { pages, batches }
}

async function readPage(
  api: Api,
  batch: SettlementBatch | null,
  { orderDescending, offset }: { readonly orderDescending: boolean; readonly offset: number },
): Promise<CachedPage> {
  const { body, responded_at } = await api.request(transactionList, {
    method: batch ? 'getTransactionList' : 'getUnsettledTransactionList',
    members: {
      ...(batch && { batchId: batch.batchId }),
      sorting: { orderBy: 'submitTimeUTC', orderDescending },
      // The offset counts pages.
      paging: { limit: pageLength, offset },
    },
  })
  const summaries = body.transactions ?? []
  return {
    byInvoice: Map.groupBy(summaries, ({ invoiceNumber }) => invoiceNumber ?? ''),
    responded_at,
    endedAt: Date.now(),
    isLast: summaries.length < pageLength,
    lastSubmittedAt: Date.parse(summaries.at(-1)?.submitTimeUTC ?? ''),
  }
}

async function readBatches(api: Api, first: number): Promise<readonly SettlementBatch[]> {
  const last = Math.min(first + windowMs - 1_000, Date.now() + clockMarginMs)
  if (last < first) return []
  const { body } = await api.request(batchList, {
    method: 'getSettledBatchList',
    members: { firstSettlementDate: toSecond(first), lastSettlementDate: toSecond(last) },
  })
  return (body.batchList ?? []).map(({ batchId, settlementTimeUTC }) => ({
    batchId,
    settledAt: Date.parse(settlementTimeUTC),
  }))
}

const toSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

const keptMs = 10 * 60 * 1000

/**
 * Returns the cached result of a read that started at or after `asOf`, or reads again. Failed reads are not cached.
 * @param asOf in ms since 1970, by our clock
 */
type CachedRead<Value> = (key: string, asOf: number, read: () => Promise<Value>) => Promise<Value>

/** @param maxKept the number of cached results; the oldest are dropped first */
function createReadCache<Value>(maxKept: number): CachedRead<Value> {
  const kept = new Map<string, { readonly startedAt: number; readonly value: Promise<Value> }>()
  return (key, asOf, read) => {
    const startedAt = Date.now()
    const known = kept.get(key)
    if (known && known.startedAt >= asOf) return known.value
    const entry = { startedAt, value: read() }
    kept.delete(key)
    kept.set(key, entry)
    for (const [other, { startedAt: at }] of kept)
      if (kept.size > maxKept || startedAt - at > keptMs) kept.delete(other)
      else break
    entry.value.catch(() => {
      if (kept.get(key) === entry) kept.delete(key)
    })
    return entry.value
  }
}

function searchTooLargeError(): ProviderError {
  return new ProviderError('unknown', 'search_too_large', 'There are too many transactions to search')
}

function throwSearchTimeout(): never {
  throw new ProviderError('unknown', 'timeout', 'The search for transactions took too long')
}
