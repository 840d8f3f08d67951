// A store that a test connects, and that is closed with it.
import type { Test } from 'tap'
import type { EventStoreTiming } from '../connection/timing.ts'
import { createEventStore, type EventStore } from '../eventStore.ts'

export function connectEventStore(
  t: Test,
  { connectionString }: { readonly connectionString: string },
  timing: Partial<EventStoreTiming> = {},
): EventStore {
  const store = createEventStore({ connectionString, timing })
  t.teardown(() => store.close())
  return store
}

/** What connects through a proxy, or otherwise than a server itself says. Its keepalive comes too late for any test. */
export const withoutKeepalive = (port: number) => ({
  connectionString: `esdb://127.0.0.1:${port}?tls=false&keepAliveInterval=3600000`,
})
