// Reads the log as fast as possible.
import { type EventStoreDBClient, FORWARDS, START, streamNameFilter } from '@eventstore/db-client'

export type ReadRate = { readonly events: number; readonly perSecond: number }

/** Reads at most this many events of the log from its start. */
export async function readWholeLog(client: EventStoreDBClient, maxEvents: number): Promise<ReadRate> {
  return rateOf(client.readAll({ direction: FORWARDS, fromPosition: START, maxCount: maxEvents }))
}

/** Subscribes from the start of the log until this many events with one of the prefixes have arrived. */
export async function catchUp(
  client: EventStoreDBClient,
  events: number,
  prefixes: readonly string[],
): Promise<ReadRate> {
  const filter = streamNameFilter({ prefixes: [...prefixes], checkpointReached: () => Promise.resolve() })
  const subscription = client.subscribeToAll({ fromPosition: START, filter })
  try {
    return await rateOf(subscription, events)
  } finally {
    await subscription.unsubscribe()
    // Pending messages would prevent the client from being disposed.
    subscription.destroy()
  }
}

async function rateOf(source: AsyncIterable<unknown>, maxEvents = Number.POSITIVE_INFINITY): Promise<ReadRate> {
  const begin = performance.now()
  let events = 0
  for await (const _ of source) {
    events += 1
    if (events === maxEvents) break
  }
  return { events, perSecond: (events * 1_000) / (performance.now() - begin) }
}
