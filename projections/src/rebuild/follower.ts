// A table that is not live, filled from the log by whoever holds the lock for it.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Pool, PoolClient } from 'pg'
import { createApplier } from '../apply/applier.ts'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import { inTransaction } from '../apply/transaction.ts'
import { copyRows } from '../apply/writers.ts'
import type { Projection } from '../projection.ts'
import { type LockedCheckpoint, lockLiveCheckpoint } from '../tables/tables.ts'

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
    progress: () => reading,
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

// A table beside the live one at exactly the same position of the log: then they can be compared, or one can take the
// other's place.

/**
 * The projector waits for us meanwhile, but not for ever should this process be cut off; we wait for a transaction of its,
 * even for one that the server ends, after 15 seconds, because its projector is frozen.
 */
const beginAlongside = `begin; set local lock_timeout = '20s'; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = '30s'`

/** Rounds in which what was recorded meanwhile is applied, before the projector has to wait for the rest. */
const maxRounds = 10
/** What is left may be applied while the projector waits: it takes some milliseconds. */
const fewEvents = 500

/** The log that is read ends before the place up to which the live table has read it. */
class LogEndsError extends Error {
  override readonly name = 'LogEndsError'
}

/** Applies what was recorded meanwhile, until little is left. */
export async function catchUp(follower: Follower): Promise<void> {
  for (let round = 0; round < maxRounds; round++) if ((await follower.follow()) < fewEvents) return
}

/** The same up to where the live table stands, and not beyond: it may have stopped, and can only be compared where it is. */
export async function catchUpWithLive(options: {
  readonly pool: Pool
  readonly projection: Projection
  readonly follower: Follower
}): Promise<void> {
  const { pool, projection, follower } = options
  for (let round = 0; round < maxRounds; round++) {
    const position = (await liveCheckpoint(pool, projection.name))?.position
    if (position === undefined || (await follower.follow(position)) < fewEvents) return
  }
}

/**
 * Brings the table to where the live one stands, and does something while both stay there.
 * @param work within the transaction of `client`, which holds the live checkpoint
 * @throws LogEndsError; the database's errors, among them 55P03 when something else holds what is needed for too long
 */
export function alongsideLive<Result>(
  options: { readonly pool: Pool; readonly projection: Projection; readonly follower: Follower },
  work: (client: PoolClient, live: LockedCheckpoint | undefined) => Promise<Result>,
): Promise<Result> {
  const { pool, projection, follower } = options
  return inTransaction(
    pool,
    async (client) => {
      const live = await lockLiveCheckpoint(client, projection)
      if (live?.position !== undefined) await followToLive(follower, live.position)
      return await work(client, live)
    },
    beginAlongside,
  )
}

/** A node of a cluster that lags behind, or a log that is not the one that was projected, would take the live table back. */
async function followToLive(follower: Follower, live: LogPosition): Promise<void> {
  await follower.follow(live)
  const { position } = follower.progress()
  if (position === undefined || isAfter(live, position)) {
    throw new LogEndsError(
      `The live table has read up to ${live.commit}, and the log ends at ${position?.commit ?? 'its start'}`,
    )
  }
}
