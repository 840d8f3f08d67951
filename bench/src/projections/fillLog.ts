// Writes generated events through the client as fast as possible, and reads them.
import type { Fold } from '@paylog/domain/events'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { DataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore, type EventStore, type LoadedState } from '@paylog/event-store/eventStore'
import { payments } from '@paylog/projections/payments/projection'
import type { Appending } from './otherStreams.ts'

const inFlight = 256
/** The events are already decided, so the state does not matter. */
const fold: Fold<null, RecordedDomainEvent> = { initialState: null, evolve: (state) => state }

/**
 * Appends generated events until there are this many of payments.
 * @returns the total number, other streams included
 */
export async function fillLog(
  store: EventStore,
  log: Generator<Appending, never>,
  count: number,
): Promise<{ readonly payments: number; readonly others: number }> {
  const appended = { payments: 0, others: 0 }
  // Events of a stream have to wait for those before them.
  const latest = new Map<string, Promise<unknown>>()
  const writer = async () => {
    while (appended.payments < count) {
      const appending = log.next().value
      const { stream, events } = appending
      appended[stream.startsWith('payment-') ? 'payments' : 'others'] += events.length
      const before = latest.get(stream)
      const written = (before ?? Promise.resolve()).then(() => appendEvents(store, appending))
      latest.set(stream, written)
      await written
      if (latest.get(stream) === written) latest.delete(stream)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, writer))
  return appended
}

/** Appends the events to their stream. @throws Error when the stream was at another revision */
export async function appendEvents(store: EventStore, { stream, after, events, subject }: Appending): Promise<void> {
  const assumed: LoadedState<null> = { state: null, revision: after, position: undefined }
  const metadata = { correlationId: stream, causationId: stream, actor: 'provider:sandbox', requestId: stream }
  const { revision } = await store.handle({ stream, fold, decide: () => events, metadata, assumed, subject })
  const expected = (after === 'no_stream' ? -1n : after) + BigInt(events.length)
  if (revision !== expected) throw new Error(`${stream} is at ${revision} and should be at ${expected}`)
}

/** The first payment events, as a rebuild would read them. */
export async function paymentEvents(store: EventStore, maxEvents: number): Promise<Recorded[]> {
  const events: Recorded[] = []
  for await (const event of store.readLog({ prefixes: payments.streamPrefixes })) {
    if (events.push(event) === maxEvents) break
  }
  return events
}

export async function withStore<Result>(
  { connectionString, keys }: { readonly connectionString: string; readonly keys: DataKeys },
  work: (store: EventStore) => Promise<Result>,
): Promise<Result> {
  const store = createEventStore({ connectionString, keys })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
