// Appending as fast as the answers come.
import { randomUUID } from 'node:crypto'
import { type EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'

export type AppendRate = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number }

/** About 400 bytes as JSON, as large as the events of a payment are. */
const data = { payment_id: randomUUID(), text: 'x'.repeat(340) }
const fillBatch = 100
const fillInFlight = 8

/** Appends single events to new streams, always `inFlight` of them on their way. */
export async function measureAppends(
  client: EventStoreDBClient,
  options: { readonly inFlight: number; readonly durationMs: number },
): Promise<AppendRate> {
  const times: number[] = []
  const begin = performance.now()
  const until = begin + options.durationMs
  const writer = async () => {
    while (performance.now() < until) {
      const sent = performance.now()
      await client.appendToStream(`bench-${randomUUID()}`, jsonEvent({ type: 'Measured', data }), {
        expectedRevision: NO_STREAM,
      })
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: options.inFlight }, writer))
  const perSecond = (times.length * 1_000) / (performance.now() - begin)
  const sorted = times.toSorted((a, b) => a - b)
  const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0
  return { perSecond, p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

/** Adds this many events, many at a time. */
export async function fillLog(client: EventStoreDBClient, events: number): Promise<void> {
  let left = events
  const writer = async () => {
    while (left > 0) {
      const size = Math.min(fillBatch, left)
      left -= size
      const batch = Array.from({ length: size }, () => jsonEvent({ type: 'Filled', data }))
      await client.appendToStream(`bench-fill-${randomUUID()}`, batch, { expectedRevision: NO_STREAM })
    }
  }
  await Promise.all(Array.from({ length: fillInFlight }, writer))
}
