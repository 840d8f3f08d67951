// A table that is not live, filled from the log by whoever holds the lock for it.
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Pool } from 'pg'
import { createApplier } from '../apply/applier.ts'
import { copyRows } from '../apply/writers.ts'
import type { Projection } from '../projection.ts'

/** Events of one transaction. Larger ones cost memory and hardly save time. */
export const windowEvents = 5_000

/** Nobody reads the table yet: a window of large rows may take its time. */
const beginWindow = 'begin; set local statement_timeout = 0'

/** How far the log has been applied. */
export type FollowProgress = {
  /** Events applied so far. */
  readonly events: number
  readonly position: LogPosition | undefined
  /** Where the log ended, or where reading is to end, as far as is known. */
  readonly end: LogPosition | undefined
}

export type Follower = {
  readonly progress: () => FollowProgress
  /**
   * Applies the log up to a position, or up to where it ends now.
   * @returns how many events that were
   * @throws UnreadableEventError, DomainError `event_store_unavailable`; the signal's reason when it aborts; the database's
   *   errors
   */
  follow(until?: LogPosition): Promise<number>
}

/** @param options `onProgress` is told after every transaction */
export async function createFollower(options: {
  readonly pool: Pool
  readonly store: EventStore
  readonly projection: Projection
  readonly version: number
  readonly signal: AbortSignal
  readonly onProgress: (reading: FollowProgress) => void
}): Promise<Follower> {
  const { pool, store, projection, version, signal, onProgress } = options
  const applier = createApplier({ pool, projection, version, writer: copyRows, begin: beginWindow })
  let reading: FollowProgress = { events: 0, position: await applier.start(), end: undefined }

  return {
    reading: () => reading,
    async follow(until) {
      const before = reading.events
      const end = until ?? (await store.head())
      if (end === undefined || (reading.position !== undefined && !isAfter(end, reading.position))) return 0
      reading = { ...reading, end }
      const range = { prefixes: projection.streamPrefixes, from: reading.position, until: end, maxBatch: windowEvents }
      for await (const batch of store.readBatches(range)) {
        signal.throwIfAborted()
        await applier.apply(batch)
        reading = { events: reading.events + batch.events.length, position: batch.position, end }
        onProgress(reading)
      }
      return reading.events - before
    },
  }
}
