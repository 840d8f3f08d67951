// Verifies a live table: fills a scratch table from the log and compares the two.
import { isAfter, type LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { holdLock } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool, PoolClient } from 'pg'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import type { Projection } from '../projection.ts'
import { differencesOf, type RowDifference, sumOf, type TableSum } from '../tables/comparison.ts'
import { dropScratchTables, dropTable, type LockedCheckpoint, makeTable, tableName } from '../tables/tables.ts'
import { alongsideLive, catchUpWithLive, createFollower, type Follower, type FollowProgress } from './follower.ts'

export type Comparison = {
  /** The position of both tables. */
  readonly position: LogCheckpoint | undefined
  readonly live: TableSum & { readonly version: number }
  readonly expected: TableSum
  /** Number of differing rows. */
  readonly differing: number
}

/** One snapshot for the whole comparison, without a statement timeout, and time for the caller to handle differences. */
const beginComparison = `begin isolation level repeatable read read only; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = '10min'; set local work_mem = '64MB'`

/**
 * Compares the live table with one filled beside it, at the same position. The projector waits only for the milliseconds
 * until the snapshot is taken.
 * @param options `onDifference` is called for each differing row, ordered by id
 * @returns `undefined` when there is no live table with this schema version, or the other one is past its position
 */
export async function compareWithLive(options: {
  readonly pool: Pool
  readonly projection: Projection
  readonly version: number
  readonly follower: Follower
  readonly onDifference: (difference: RowDifference) => Promise<void> | void
}): Promise<Comparison | undefined> {
  const { pool, projection, version, follower, onDifference } = options
  const client = await pool.connect()
  try {
    const live = await alongsideLive(options, async (_, locked) => {
      if (locked?.schema_version !== projection.schemaVersion || isPast(follower, locked)) return undefined
      // The first query fixes the snapshot, and keeps both tables from being dropped until its end.
      const names = [locked.version, version].map((of) => `read_models.${tableName(projection, of)}`)
      await client.query(beginComparison)
      await client.query(`select from ${names.join(', ')} limit 0`)
      return locked
    })
    if (live === undefined) return undefined
    const compared = await compare(client, { projection, found: live.version, expected: version, onDifference })
    await client.query('commit')
    return { position: live.position, ...compared }
  } finally {
    // Ignore errors: a read-only transaction has nothing to lose.
    client.release(true)
  }
}

function isPast(follower: Follower, { position: live }: LockedCheckpoint): boolean {
  const { position } = follower.progress()
  return position !== undefined && (live === undefined || isAfter(position, live))
}

async function compare(
  client: PoolClient,
  options: {
    readonly projection: Projection
    readonly found: number
    readonly expected: number
    readonly onDifference: (difference: RowDifference) => Promise<void> | void
  },
): Promise<Omit<Comparison, 'position'>> {
  const { projection, found, expected: version, onDifference } = options
  const live = { version: found, ...(await sumOf(client, projection, found)) }
  const expected = await sumOf(client, projection, version)
  let differing = 0
  if (live.rows !== expected.rows || live.hash !== expected.hash) {
    for await (const difference of differencesOf(client, projection, { found, expected: version })) {
      differing += 1
      await onDifference(difference)
    }
  }
  return { live, expected, differing }
}

export type VerifyPhase = 'filling' | 'comparing'
export type Verification = Comparison & {
  /** The projection's events up to the compared position. */
  readonly events: number
}

/** The live table has another schema version than this program. */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError'
}

/** The name of the lock for creating, filling and dropping scratch tables. */
export const verifyLock = ({ name }: Pick<Projection, 'name'>) => `verify ${name}`

/**
 * Replays the log into a scratch table and compares it with the live one, while both are in use.
 * @param options `onWaiting` is called when another process verifies this projection; `onDifference` for each differing row
 * @throws SchemaVersionError for another schema version; LogMismatchError, UnreadableEventError, DomainError `event_store_unavailable`, the
 *   signal's reason when it aborts, database errors
 */
export async function verify(options: {
  readonly databaseUrl: string
  /** Needs three connections at the same time. */
  readonly pool: Pool
  readonly store: EventStore
  readonly projection: Projection
  readonly signal: AbortSignal
  readonly log: Logger
  readonly onWaiting?: () => void
  readonly onProgress?: (progress: FollowProgress & { readonly phase: VerifyPhase }) => void
  readonly onDifference: (difference: RowDifference) => Promise<void> | void
}): Promise<Verification> {
  const { databaseUrl, pool, store, projection, log, onWaiting, onProgress, onDifference } = options
  const live = await liveCheckpoint(pool, projection.name)
  if (live?.schema_version !== projection.schemaVersion) {
    const fact =
      live === undefined ? 'There is no live table' : `The live table has schema version ${live.schema_version}`
    throw new SchemaVersionError(`${fact}, but this program has ${projection.schemaVersion}`)
  }
  if (live.position !== undefined && !(await store.has(live.position)))
    throw new LogMismatchError(`The live table is at the event ${live.position.eventId}, which this log does not have`)
  const lock = await holdLock({
    databaseUrl,
    name: verifyLock(projection),
    signal: options.signal,
    log,
    ...(onWaiting === undefined ? {} : { onWaiting }),
  })
  try {
    const signal = AbortSignal.any([options.signal, lock.lost])
    await dropScratchTables(pool, projection)
    const version = await makeTable(pool, projection, 'scratch')
    try {
      const reportPhase = (phase: VerifyPhase) => (reading: FollowProgress) => onProgress?.({ ...reading, phase })
      const follower = await createFollower({ ...options, signal, version, onProgress: reportPhase('filling') })
      await catchUpWithLive({ pool, projection, follower })
      signal.throwIfAborted()
      reportPhase('comparing')(follower.progress())
      const comparison = await compareWithLive({ pool, projection, version, follower, onDifference })
      if (comparison === undefined) throw new SchemaVersionError('The live table now has another schema version')
      return { ...comparison, events: follower.progress().events }
    } finally {
      if (!lock.lost.aborted) await dropTable(pool, projection, version)
    }
  } finally {
    await lock.release()
  }
}
