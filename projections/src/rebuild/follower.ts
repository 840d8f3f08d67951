// Fills a table that is not live from the log, up to the position of the live one.
import { isAfter, type LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool, PoolClient } from 'pg'
import { createApplier } from '../apply/applier.ts'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import { copyRows } from '../apply/writers.ts'
import type { Projection } from '../projection.ts'
import { type LockedCheckpoint, lockLiveCheckpoint } from '../tables/tables.ts'

/** Events per transaction. Larger ones cost memory and save little time. */
export const windowEvents = 5_000

/** No query reads the table yet, so a window of large rows may take long. */
const beginWindow = 'begin; set local statement_timeout = 0'

/** How far the log has been applied. */
export type FollowProgress = {
  /** Events applied so far. */
  readonly events: number
  readonly position: LogCheckpoint | undefined
  /** The end of the log, or the target position, if known. */
  readonly end: LogCheckpoint | undefined
}

export type Follower = {
  readonly progress: () => FollowProgress
  /**
   * Applies the log up to a position, or up to its current end.
   * @returns the number of events applied
   * @throws UnreadableEventError, DomainError `event_store_unavailable`, the signal's reason when it aborts, database errors
   */
  follow(until?: LogCheckpoint): Promise<number>
}

/** @param options `onProgress` is called after every transaction */
export async function createFollower(options: {
  readonly pool: Pool
  readonly store: EventStore
  readonly projection: Projection
  readonly version: number
  readonly signal: AbortSignal
  readonly onProgress: (reading: FollowProgress) => void
}): Promise<Follower> {
  const { pool, store, projection, version, signal, onProgress } = options
  const applier = createApplier({
    ...{ pool, projection, version, source: store },
    writer: copyRows,
    begin: beginWindow,
  })
  let reading: FollowProgress = { events: 0, position: await applier.start(), end: undefined }

  return {
    progress: () => reading,
    async follow(until) {
      const before = reading.events
      const end = until ?? (await store.head())
      if (end === undefined || (reading.position !== undefined && !isAfter(end, reading.position))) return 0
      reading = { ...reading, end }
      const { streamPrefixes: prefixes, opens } = projection
      const range = { prefixes, opens, from: reading.position, until: end, maxBatch: windowEvents }
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

/**
 * The projector waits for this transaction, with a limit in case this process hangs. In turn it may wait for a transaction
 * of a frozen projector, which the server ends after 15 seconds.
 */
const beginAlongside = `begin; set local lock_timeout = '20s'; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = '30s'`

/** Rounds of catching up before the projector has to wait for the rest. */
const maxRounds = 10
/** Few enough events to apply within milliseconds while the projector waits. */
const fewEvents = 500

/** Catches up with the log until few events are left. */
export async function catchUp(follower: Follower): Promise<void> {
  for (let round = 0; round < maxRounds; round++) if ((await follower.follow()) < fewEvents) return
}

/** Catches up to the live table's position exactly: it may have stopped, and tables are compared at equal positions. */
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
 * Brings the table to the position of the live one, and runs work while both stay there.
 * @param options `followsLive` is false when the live table belongs to another log, so that it has no position in this one
 * @param work runs within the transaction of `client`, which locks the live checkpoint
 * @throws LogMismatchError, database errors, among them 55P03 when a lock is not available in time
 */
export function alongsideLive<Result>(
  options: {
    readonly pool: Pool
    readonly projection: Projection
    readonly follower: Follower
    readonly followsLive?: boolean
  },
  work: (client: PoolClient, live: LockedCheckpoint | undefined) => Promise<Result>,
): Promise<Result> {
  const { pool, projection, follower, followsLive = true } = options
  return inTransaction(
    pool,
    async (client) => {
      const live = await lockLiveCheckpoint(client, projection)
      if (followsLive && live?.position !== undefined) await followToLive(follower, live.position)
      return await work(client, live)
    },
    beginAlongside,
  )
}

/** Another log would move the live table back. */
async function followToLive(follower: Follower, live: LogCheckpoint): Promise<void> {
  await follower.follow(live)
  const { position } = follower.progress()
  if (position === undefined || isAfter(live, position)) {
    throw new LogMismatchError(
      `The live table is at position ${live.commit}, but the log ends at ${position?.commit ?? 'its start'}`,
    )
  }
}
