// Verifies a live table: fills a scratch table from the log and compares the two.

import { isAfter, type LogCheckpoint } from '@paylog/domain/events'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { anySignal } from '@paylog/runtime/anySignal'
import { withLock } from '@paylog/runtime/postgres/lock'
import type { Pool, PoolClient } from 'pg'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import type { Projection } from '../projection.ts'
import { differencesOf, type RowDifference, sumOf, type TableSum } from '../tables/comparison.ts'
import { rowJson } from '../tables/rowText.ts'
import { dropScratchTables, dropTable, type LockedCheckpoint, makeTable, tableName } from '../tables/tables.ts'
import { alongsideLive, catchUpWithLive, createFollower, type Follower, type FollowProgress } from './follower.ts'
import { ProjectionBusyError, type ReplayOptions, type ReplayStep, SchemaVersionError } from './replay.ts'

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

export type Verification = Comparison & {
  /** The projection's events up to the compared position. */
  readonly events: number
}

/** The name of the lock for creating, filling and dropping scratch tables. */
export const verifyLock = ({ name }: Pick<Projection, 'name'>) => `verify ${name}`

/**
 * Replays the log into a scratch table and compares it with the live one, while both are in use.
 * @throws SchemaVersionError for another schema version; LogMismatchError, UnreadableEventError, DomainError `event_store_unavailable`, the
 *   signal's reason when it aborts, database errors
 */
export async function verify(options: ReplayOptions): Promise<Verification> {
  const { pool, store, projection } = options
  const live = await liveCheckpoint(pool, projection.name)
  if (live?.schema_version !== projection.schemaVersion) {
    const fact =
      live === undefined ? 'There is no live table' : `The live table has schema version ${live.schema_version}`
    throw new SchemaVersionError(`${fact}, but this program has ${projection.schemaVersion}`)
  }
  if (live.position !== undefined && !(await store.has(live.position)))
    throw new LogMismatchError(`The live table is at the event ${live.position.eventId}, which this log does not have`)
  return await withLock({ ...options, name: verifyLock(projection) }, async (lost) => {
    const signal = anySignal(options.signal, lost)
    await dropScratchTables(pool, projection)
    const version = await makeTable(pool, projection, 'scratch')
    try {
      return await fillAndCompare({ ...options, signal }, version)
    } finally {
      if (!lost.aborted) await dropTable(pool, projection, version)
    }
  })
}

async function fillAndCompare(options: ReplayOptions, version: number): Promise<Verification> {
  const { pool, projection, signal, onProgress, onDifference = () => {} } = options
  const report = (step: ReplayStep) => (reading: FollowProgress) =>
    onProgress({ ...reading, projection: projection.name, step })
  const follower = await createFollower({ ...options, version, onProgress: report('filling') })
  await catchUpWithLive({ pool, projection, follower })
  signal.throwIfAborted()
  report('comparing')(follower.progress())
  const comparison = await compareWithLive({ pool, projection, version, follower, onDifference })
  if (comparison === undefined) throw new SchemaVersionError('The live table now has another schema version')
  return { ...comparison, events: follower.progress().events }
}

export type CompletedVerification = Verification & {
  readonly projection: Projection
  readonly seconds: number
  readonly kinds: Readonly<Record<RowDifference['kind'], number>>
  readonly first: readonly RowDifference[]
}

/**
 * Verifies a projection for an operator, who does not wait for others and gets a report.
 * @param options `maxRows` of the differing rows are returned, the others are counted; `onRow` is called for each, with its
 *   number from 1
 * @throws ProjectionBusyError when another process is verifying it; errors of `verify`
 */
export async function verifyOne(
  options: ReplayOptions & {
    readonly maxRows: number
    readonly onRow?: (row: RowDifference, found: number) => Promise<void>
  },
): Promise<CompletedVerification> {
  const { projection, signal, onProgress, maxRows, onRow } = options
  const first: RowDifference[] = []
  const kinds = { missing: 0, extra: 0, different: 0 }
  let found = 0
  const startedAt = performance.now()
  onProgress({ projection: projection.name, step: 'filling', events: 0, position: undefined, end: undefined })
  const verified = await verify({
    ...options,
    onWaiting() {
      throw new ProjectionBusyError('another verification is running; try again when it has ended')
    },
    async onDifference(row) {
      signal.throwIfAborted()
      found += 1
      kinds[row.kind] += 1
      if (first.length < maxRows) first.push(row)
      await onRow?.(row, found)
    },
  })
  return { ...verified, projection, seconds: (performance.now() - startedAt) / 1_000, kinds, first }
}

/** Positions and hashes as decimal strings. */
export function verifiedJson(verified: CompletedVerification) {
  const { projection, live, expected, differing, position, first } = verified
  return {
    projection: projection.name,
    outcome: differing === 0 ? 'equal' : 'different',
    table: tableName(projection, live.version),
    version: live.version,
    schema_version: projection.schemaVersion,
    position: position?.commit.toString() ?? null,
    events: verified.events,
    seconds: Math.round(verified.seconds * 1_000) / 1_000,
    rows: { found: live.rows, expected: expected.rows },
    hash: { found: live.hash, expected: expected.hash },
    differing,
    ...verified.kinds,
    differences: first.map(rowJson),
    truncated: first.length < differing,
  }
}
