// Reading the log as fast as it comes.
import { type EventStoreDBClient, FORWARDS, START, streamNameFilter } from '@eventstore/db-client'

export type ReadRate = { readonly events: number; readonly perSecond: number }

/** Reads the log from its start, at most this many events. */
export async function readWholeLog(client: EventStoreDBClient, maxEvents: number): Promise<ReadRate> {
  return rateOf(client.readAll({ direction: FORWARDS, fromPosition: START, maxCount: maxEvents }))
}

/** Follows a subscription from the log's start until this many events with one of the prefixes came. */
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
    // Messages that arrived meanwhile would keep the client from being disposed of.
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
