// An event store client that closes with its test, and minimal events.

import type { EventMetadata } from '@paylog/domain/events'
import type { GuestTokenEvent } from '@paylog/domain/guestToken'
import type { Test } from 'tap'
import type { DataKeys } from '../codec/dataKeys.ts'
import { createEventStore, type EventStore, newStream } from '../eventStore.ts'
import type { EventStoreTiming } from '../timing.ts'
import { memoryKeys } from './memoryKeys.ts'

/** A busy machine takes long to start an event store again. */
export const patience = { appendRetryTimeoutMs: 30_000, readRetryTimeoutMs: 30_000 }

export function connectEventStore(
  t: Test,
  { connectionString, keys = memoryKeys() }: { readonly connectionString: string; readonly keys?: DataKeys },
  timing: Partial<EventStoreTiming> = {},
): EventStore {
  const store = createEventStore({ connectionString, keys, timing: { ...patience, ...timing } })
  t.teardown(() => store.close())
  return store
}

/** Options to connect to any port, such as a proxy's, with a keepalive longer than any test. */
export const withoutKeepalive = (port: number) => ({
  connectionString: `esdb://127.0.0.1:${port}?tls=false&keepAliveInterval=3600000`,
})

export const metadata: EventMetadata = { correlationId: 'c', causationId: 'c', actor: 'anonymous' }

export const guestTokenSeen: GuestTokenEvent = {
  type: 'GuestTokenSeen',
  data: { guest_email: 'guest@example.com', occurred_at: '2026-01-01T00:00:00.000Z' },
}

export const countFold = { initialState: 0, evolve: (count: number, _event: GuestTokenEvent) => count + 1 }

/** Appends `count` events in one append, in any state of the stream. */
export const append = (store: EventStore, stream: string, count: number) =>
  store.handle({
    stream,
    fold: countFold,
    decide: () => Array.from({ length: count }, () => guestTokenSeen),
    metadata,
  })

/** Appends one event to a new stream, without reading it first. */
export const appendFirst = (store: EventStore, stream: string) =>
  store.handle({ stream, fold: countFold, decide: () => [guestTokenSeen], metadata, assumed: newStream(countFold) })
