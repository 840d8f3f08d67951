// The events of one payment as far as they can be read.
import type { RecordedPaymentEvent } from '@paylog/domain/payments/history'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { readPaymentEvents } from '@paylog/workflows/payments/paymentOnRecord'

export type ReadableHistory = {
  readonly events: readonly RecordedPaymentEvent[]
  /** What is wrong with the event behind them; undefined where the stream ends. */
  readonly unreadable: UnreadableEventError | undefined
}

/** Read at once; a long stream is read page by page. */
const pageSize = 500

/**
 * A payment's events up to the first one that this program cannot read, which is found by halving the pages that hold it.
 * @param id as it is recorded
 * @throws DomainError `event_store_unavailable`
 */
export async function readHistory(store: EventStore, id: string): Promise<ReadableHistory> {
  const events: RecordedPaymentEvent[] = []
  for (let limit = pageSize; ; ) {
    // Not how many there were: a stream whose beginning was cut off begins later.
    const from = (events.at(-1)?.revision ?? -1n) + 1n
    const page = await readHistoryPage(store, id, { from, limit })
    if (page instanceof UnreadableEventError) {
      if (limit === 1) return { events, unreadable: page }
      limit = Math.floor(limit / 2)
      continue
    }
    for (const event of page) events.push(event)
    if (page.length < limit) return { events, unreadable: undefined }
  }
}

async function readHistoryPage(
  store: EventStore,
  id: string,
  range: { readonly from: bigint; readonly limit: number },
) {
  try {
    return await readPaymentEvents(store, id, range)
  } catch (error) {
    if (error instanceof UnreadableEventError) return error
    throw error
  }
}
