// Reading what is recorded, patiently: a store that restarts is back within seconds.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  NoStreamError,
  START,
  StreamNotFoundError,
} from '@eventstore/db-client'
import { decode, type LogPosition, type Recorded, UnreadableEventError } from './codec.ts'
import { unreadable, withTimeout } from './failure.ts'
import type { StreamName } from './streamName.ts'
import type { EventStoreTiming } from './timing.ts'

export type ReadRange = { readonly from?: bigint; readonly limit?: number }

/**
 * A stream's events in order; none for a stream that does not exist.
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export function readStream(
  client: EventStoreDBClient,
  timing: EventStoreTiming,
  stream: StreamName,
  { from, limit }: ReadRange,
): Promise<Recorded[]> {
  return patiently(timing, async () => {
    const reading = client.readStream(stream, {
      direction: FORWARDS,
      fromRevision: from ?? START,
      ...(limit === undefined ? {} : { maxCount: limit }),
    })
    try {
      return await withTimeout(collect(reading), timing.readTimeoutMs, `Read of ${stream}`)
    } catch (error) {
      if (error instanceof StreamNotFoundError || error instanceof NoStreamError) return []
      throw error
    } finally {
      await reading.cancel()
    }
  })
}

async function collect(reading: ReturnType<EventStoreDBClient['readStream']>): Promise<Recorded[]> {
  const events: Recorded[] = []
  for await (const { event } of reading) {
    if (event) events.push(decode(event, event.position ?? nowhere))
  }
  return events
}

/** Stands for the position of an event that a store from before version 22.6 does not tell in streams. */
const nowhere: LogPosition = { commit: 0n, prepare: 0n }

/** The position of the log's last event, whatever it is. */
export function readHead(client: EventStoreDBClient, timing: EventStoreTiming): Promise<LogPosition | undefined> {
  return patiently(timing, async () => {
    const reading = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
    const first = async () => {
      for await (const { event } of reading) if (event) return event.position
      return undefined
    }
    try {
      return await withTimeout(first(), timing.readTimeoutMs, 'Read of the end of the log')
    } finally {
      await reading.cancel()
    }
  })
}

async function patiently<T>(timing: EventStoreTiming, read: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + timing.readPatienceMs
  for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await read()
    } catch (error) {
      if (error instanceof UnreadableEventError) throw error
      if (Date.now() + pauseMs > giveUpAt) throw unreadable(error)
      await sleep(pauseMs)
    }
  }
}
