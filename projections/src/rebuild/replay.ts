// What rebuilds and verifications share: options, progress, and locks.
import type { EventStore } from '@paylog/event-store/eventStore'
import { lockKey } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import type { RowDifference } from '../tables/comparison.ts'
import type { FollowProgress } from './follower.ts'

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
  /** Called when another process does the same. Unless it throws, the work waits for the other process. */
  readonly onWaiting?: () => void
  /** Called for each wrong row of the live table, ordered by id. */
  readonly onDifference?: (difference: RowDifference) => Promise<void> | void
}

/** A verification has the first two. */
export type ReplayStep = 'filling' | 'comparing' | 'indexing' | 'catching up' | 'switching'
export type ReplayProgress = FollowProgress & { readonly projection: string; readonly step: ReplayStep }

/** Another process is rebuilding or verifying the projection. */
export class ProjectionBusyError extends Error {
  override readonly name = 'ProjectionBusyError'
}

/** The live table has another schema version than this program. */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError'
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
