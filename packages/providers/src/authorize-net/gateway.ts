// Why a search for transactions has no result. Not to have found one in a part of the lists says nothing.

import type { Pace } from '../pacing.ts'
import { ProviderError } from '../provider.ts'
import { withDeadline } from '../retries.ts'
import {
  type Account,
  type Api,
  batchList,
  createApi,
  type Deadline,
  merchantDetails,
  startDeadline,
  type TransactionSummary,
  transactionList,
} from './api.ts'

export function searchTooLargeError(): ProviderError {
  return new ProviderError('unknown', 'search_too_large', 'There are too many transactions to search')
}

function throwSearchTimeout(): never {
  throw new ProviderError('unknown', 'timeout', 'The search for transactions took too long')
}

// Answers of the gateway, kept for a while and shared by all that may take an answer that old.

const keptMs = 10 * 60 * 1000

/**
 * @param asOf when the read must have begun at the earliest, in ms since 1970 by our clock
 * @param ask reads it; one that fails is not kept
 */
export type CachedRead<Answer> = (key: string, asOf: number, read: () => Promise<Answer>) => Promise<Answer>

/** @param maxKept how many answers are kept at most; the oldest go first */
function createReadCache<Answer>(maxKept: number): CachedRead<Answer> {
  const kept = new Map<string, { readonly beganAt: number; readonly answer: Promise<Answer> }>()
  return (key, asOf, ask) => {
    const beganAt = Date.now()
    const known = kept.get(key)
    if (known && known.beganAt >= asOf) return known.answer
    const read = { beganAt, answer: ask() }
    kept.delete(key)
    kept.set(key, read)
    for (const [other, { beganAt: at }] of kept)
      if (kept.size > maxKept || beganAt - at > keptMs) kept.delete(other)
      else break
    read.answer.catch(() => {
      if (kept.get(key) === read) kept.delete(key)
    })
    return read.answer
  }
}

// The gateway's lists of transactions. Each page is read once for all payments that are looked for in the same round.

/** The gateway's maximum. */
const pageLength = 1_000
/** Of one list: 100,000 transactions. */
const maxPages = 100
/** Kept at a time, of all lists. */
const maxKeptPages = 200
const dayMs = 24 * 60 * 60 * 1000
/** A call takes at most 31 days. */
const windowMs = 30 * dayMs

/** How much the gateway's clock and ours may differ. */
export const clockMarginMs = 60 * 60 * 1000

/** In ms since 1970. */
export type TimeRange = { readonly first: number; readonly last: number }

/** How long a search waits, and how old an answer it takes: begun at this time by our clock, in ms since 1970. */
export type ListReadOptions = { readonly deadline: Deadline; readonly asOf: number }

export type TransactionPage = {
  readonly byInvoice: ReadonlyMap<string, readonly TransactionSummary[]>
  /** By the gateway's clock, ISO 8601. */
  readonly responded_at: string
  /** When the answer was here, by our clock. */
  readonly endedAt: number
}
type CachedPage = TransactionPage & { readonly isLast: boolean; readonly lastSubmittedAt: number }

/** `settledAt` in ms since 1970. */
export type SettlementBatch = { readonly batchId: string; readonly settledAt: number }

export type TransactionLists = {
  /**
   * The pages that hold what was submitted in the stretch, and perhaps more. A list is read from the end that is nearer, and
   * left beyond the stretch.
   * @param batch `null` for all that is not settled
   * @throws ProviderError also when there is too much to read
   */
  pages(batch: SettlementBatch | null, stretch: TimeRange, reading: ListReadOptions): AsyncGenerator<TransactionPage>
  /** What was settled in the stretch, and in the month around it. @throws ProviderError */
  batches(stretch: TimeRange, reading: ListReadOptions): Promise<readonly SettlementBatch[]>
}

/** @param timeoutMs of each call, whoever waits for it */
function createTransactionLists(api: Api, timeoutMs: number): TransactionLists {
  const cachedPage = createReadCache<CachedPage>(maxKeptPages)
  const cachedBatches = createReadCache<readonly SettlementBatch[]>(maxKeptPages)

  async function* pages(
    batch: SettlementBatch | null,
    { first, last }: TimeRange,
    { deadline, asOf }: ListReadOptions,
  ) {
    // A list holds about a day. What is older is at its other end.
    const orderDescending = last > (batch?.settledAt ?? Date.now()) - dayMs
    for (let offset = 1; offset <= maxPages; offset++) {
      const key = `${batch?.batchId ?? 'unsettled'} ${orderDescending} ${offset}`
      const ask = () => readPage(api, batch, { orderDescending, offset }, startDeadline(timeoutMs))
      // What is settled does not change.
      const page = await withDeadline(deadline.leftMs(), cachedPage(key, batch ? 0 : asOf, ask), throwSearchTimeout)
      yield page
      if (page.isLast || (orderDescending ? page.lastSubmittedAt < first : page.lastSubmittedAt > last)) return
    }
    throw searchTooLargeError()
  }

  async function batches(
    { first, last }: TimeRange,
    { deadline, asOf }: ListReadOptions,
  ): Promise<readonly SettlementBatch[]> {
    const found: SettlementBatch[] = []
    // The same months for all searches, so that they share the answers.
    for (let month = Math.floor(first / windowMs); month <= Math.floor(last / windowMs); month++) {
      const ask = () => readBatches(api, month * windowMs, startDeadline(timeoutMs))
      found.push(
        ...(await withDeadline(deadline.leftMs(), cachedBatches(String(month), asOf, ask), throwSearchTimeout)),
      )
    }
    return found
  }

  return { pages, batches }
}

async function readPage(
  api: Api,
  batch: SettlementBatch | null,
  { orderDescending, offset }: { readonly orderDescending: boolean; readonly offset: number },
  deadline: Deadline,
): Promise<CachedPage> {
  const { body, responded_at: answered_at } = await api.idempotent({
    method: batch ? 'getTransactionList' : 'getUnsettledTransactionList',
    members: {
      ...(batch && { batchId: batch.batchId }),
      sorting: { orderBy: 'submitTimeUTC', orderDescending },
      // The offset counts pages.
      paging: { limit: pageLength, offset },
    },
    response: transactionList,
    deadline,
  })
  const lines = body.transactions ?? []
  return {
    byInvoice: Map.groupBy(lines, ({ invoiceNumber }) => invoiceNumber ?? ''),
    responded_at: answered_at,
    endedAt: Date.now(),
    isLast: lines.length < pageLength,
    lastSubmittedAt: Date.parse(lines.at(-1)?.submitTimeUTC ?? ''),
  }
}

async function readBatches(api: Api, first: number, deadline: Deadline): Promise<readonly SettlementBatch[]> {
  const last = Math.min(first + windowMs - 1_000, Date.now() + clockMarginMs)
  if (last < first) return []
  const { body } = await api.idempotent({
    method: 'getSettledBatchList',
    members: { firstSettlementDate: toSecond(first), lastSettlementDate: toSecond(last) },
    response: batchList,
    deadline,
  })
  return (body.batchList ?? []).map(({ batchId, settlementTimeUTC }) => ({
    batchId,
    settledAt: Date.parse(settlementTimeUTC),
  }))
}

const toSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

// The merchant account at Authorize.Net: its API, how long one request may take there, and its currency.

export type Gateway = {
  readonly api: Api
  readonly lists: TransactionLists
  /** For all calls together that one request needs. */
  readonly timeoutMs: number
  /** For a search through the lists: longer when nobody waits for it. */
  searchMs(): number
  /**
   * The one currency that the account has, which no transaction names.
   * @returns `null` when it has several, or when the gateway does not say
   */
  currency(deadline: Deadline): Promise<string | null>
}

/** It is worth no more: without it everything else about a payment is known all the same. */
const currencyTimeoutMs = 2_000

export function createGateway(options: {
  readonly account: Account
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): Gateway {
  const api = createApi(options)
  let known: string | null | undefined
  let pendingRead: Promise<void> | undefined

  async function readCurrency(): Promise<void> {
    const { body } = await api.once({
      method: 'getMerchantDetails',
      members: {},
      response: merchantDetails,
      deadline: startDeadline(currencyTimeoutMs),
    })
    const [currency = null, ...others] = body.currencies
    known = others.length > 0 ? null : currency
  }

  return {
    api,
    lists: createTransactionLists(api, options.timeoutMs),
    timeoutMs: options.timeoutMs,
    searchMs: () => Math.max(options.timeoutMs, options.pace.patienceMs()),
    async currency(deadline) {
      if (known !== undefined) return known
      // A question that failed is asked again with the next transaction.
      pendingRead ??= readCurrency()
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError)) throw error
        })
        .finally(() => {
          pendingRead = undefined
        })
      await withDeadline(deadline.leftMs(), pendingRead, () => undefined)
      return known ?? null
    },
  }
}
