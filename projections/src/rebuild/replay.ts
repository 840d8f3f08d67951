// What an operator's rebuilds and verifications share: options, progress, and locks.
import type { LogPosition } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import { lockKey } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import type { RebuildPhase } from './rebuild.ts'

/** Connections of the pool of a rebuild or a verification: three at the same time, and one for queries meanwhile. */
export const replayConnections = 4

export type ReplayOptions = {
  readonly databaseUrl: string
  /** Needs `replayConnections` connections, and no limit for the time of a query. */
  readonly pool: Pool
  readonly log: Logger
  readonly store: EventStore
  readonly projection: Projection
  readonly signal: AbortSignal
  readonly onProgress: (progress: ReplayProgress) => void
}

export type ReplayProgress = {
  readonly projection: string
  readonly step: RebuildPhase
  readonly events: number
  readonly position: LogPosition | undefined
  readonly end: LogPosition | undefined
}

/** Another process is rebuilding or verifying the projection. */
export class ProjectionBusyError extends Error {
  override readonly name = 'ProjectionBusyError'
}

/** The given locks that are held: see `holdLock`. */
export async function heldLocks(pool: Pool, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select name from unnest($1::text[], $2::bigint[]) as wanted (name, key)
     where exists (
       select from pg_locks
       where locktype = 'advisory' and granted and objsubid = 1
       and database = (select oid from pg_database where datname = current_database())
       and classid::bigint << 32 | objid::bigint = key
     )`,
    [names, names.map(lockKey)],
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * Runs work that starts by taking a lock, and stops when the lock is held elsewhere.
 * @param work takes the lock with this signal, and calls `onWaiting` when another process holds it
 * @returns `busy` then
 */
export async function unlessBusy<Result>(
  signal: AbortSignal,
  work: (locking: { readonly signal: AbortSignal; readonly onWaiting: () => void }) => Promise<Result>,
): Promise<Result | 'busy'> {
  const busyAbort = new AbortController()
  try {
    return await work({ signal: AbortSignal.any([signal, busyAbort.signal]), onWaiting: () => busyAbort.abort() })
  } catch (error) {
    if (busyAbort.signal.aborted) return 'busy'
    throw error
  }
}
