// The gateway's lists of transactions. Each page is read once for all payments that are looked for in the same round.
import { withDeadline } from '../within.ts'
import { batchList, type TransactionSummary, transactionList } from './answers.ts'
import { type Api, type Deadline, startDeadline } from './api.ts'
import { throwSearchTimeout, searchTooLargeError } from './searchErrors.ts'
import { createReadCache } from './sharedReads.ts'

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
export function createTransactionLists(api: Api, timeoutMs: number): TransactionLists {
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
  const { body, answered_at } = await api.idempotent({
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
    answered_at,
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
