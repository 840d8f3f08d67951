// The gateway's lists of transactions. Each page is read once for all payments that are looked for in the same round.
import { within } from '../within.ts'
import { batchList, type TransactionSummary, transactionList } from './answers.ts'
import { type Api, type Deadline, startDeadline } from './api.ts'
import { tooLate, tooMuch } from './searchErrors.ts'
import { createSharedReads } from './sharedReads.ts'

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
export type Stretch = { readonly first: number; readonly last: number }

/** How long a search waits, and how old an answer it takes: begun at this time by our clock, in ms since 1970. */
export type Reading = { readonly deadline: Deadline; readonly asOf: number }

export type ListPage = {
  readonly byInvoice: ReadonlyMap<string, readonly TransactionSummary[]>
  /** By the gateway's clock, ISO 8601. */
  readonly answered_at: string
  /** When the answer was here, by our clock. */
  readonly endedAt: number
}
type WholePage = ListPage & { readonly isLast: boolean; readonly lastSubmittedAt: number }

/** `settledAt` in ms since 1970. */
export type Batch = { readonly batchId: string; readonly settledAt: number }

export type TransactionLists = {
  /**
   * The pages that hold what was submitted in the stretch, and perhaps more. A list is read from the end that is nearer, and
   * left beyond the stretch.
   * @param batch `null` for all that is not settled
   * @throws ProviderError also when there is too much to read
   */
  pages(batch: Batch | null, stretch: Stretch, reading: Reading): AsyncGenerator<ListPage>
  /** What was settled in the stretch, and in the month around it. @throws ProviderError */
  batches(stretch: Stretch, reading: Reading): Promise<readonly Batch[]>
}

/** @param timeoutMs of each call, whoever waits for it */
export function createTransactionLists(api: Api, timeoutMs: number): TransactionLists {
  const sharedPage = createSharedReads<WholePage>(maxKeptPages)
  const sharedBatches = createSharedReads<readonly Batch[]>(maxKeptPages)

  async function* pages(batch: Batch | null, { first, last }: Stretch, { deadline, asOf }: Reading) {
    // A list holds about a day. What is older is at its other end.
    const orderDescending = last > (batch?.settledAt ?? Date.now()) - dayMs
    for (let offset = 1; offset <= maxPages; offset++) {
      const key = `${batch?.batchId ?? 'unsettled'} ${orderDescending} ${offset}`
      const ask = () => readPage(api, batch, { orderDescending, offset }, startDeadline(timeoutMs))
      // What is settled does not change.
      const page = await within(deadline.leftMs(), sharedPage(key, batch ? 0 : asOf, ask), tooLate)
      yield page
      if (page.isLast || (orderDescending ? page.lastSubmittedAt < first : page.lastSubmittedAt > last)) return
    }
    throw tooMuch()
  }

  async function batches({ first, last }: Stretch, { deadline, asOf }: Reading): Promise<readonly Batch[]> {
    const found: Batch[] = []
    // The same months for all searches, so that they share the answers.
    for (let month = Math.floor(first / windowMs); month <= Math.floor(last / windowMs); month++) {
      const ask = () => readBatches(api, month * windowMs, startDeadline(timeoutMs))
      found.push(...(await within(deadline.leftMs(), sharedBatches(String(month), asOf, ask), tooLate)))
    }
    return found
  }

  return { pages, batches }
}

async function readPage(
  api: Api,
  batch: Batch | null,
  { orderDescending, offset }: { readonly orderDescending: boolean; readonly offset: number },
  deadline: Deadline,
): Promise<WholePage> {
  const { body, answered_at } = await api.repeatable({
    method: batch ? 'getTransactionList' : 'getUnsettledTransactionList',
    members: {
      ...(batch && { batchId: batch.batchId }),
      sorting: { orderBy: 'submitTimeUTC', orderDescending },
      // The offset counts pages.
      paging: { limit: pageLength, offset },
    },
    answer: transactionList,
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

async function readBatches(api: Api, first: number, deadline: Deadline): Promise<readonly Batch[]> {
  const last = Math.min(first + windowMs - 1_000, Date.now() + clockMarginMs)
  if (last < first) return []
  const { body } = await api.repeatable({
    method: 'getSettledBatchList',
    members: { firstSettlementDate: toSecond(first), lastSettlementDate: toSecond(last) },
    answer: batchList,
    deadline,
  })
  return (body.batchList ?? []).map(({ batchId, settlementTimeUTC }) => ({
    batchId,
    settledAt: Date.parse(settlementTimeUTC),
  }))
}

const toSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`
