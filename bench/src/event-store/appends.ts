import { randomUUID } from 'node:crypto'
import { type EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'

/** About 400 bytes as JSON, the size of a payment event. */
export const data = { payment_id: randomUUID(), text: 'x'.repeat(340) }
const fillBatch = 100
const fillInFlight = 8

/** Appends one event to a new stream. */
export function appendOne(client: EventStoreDBClient): Promise<unknown> {
  return client.appendToStream(`bench-${randomUUID()}`, jsonEvent({ type: 'Measured', data }), {
    expectedRevision: NO_STREAM,
  })
}

/** Appends this many events in large batches. */
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
