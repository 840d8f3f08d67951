// Whether the live table is what the log says, told by a table that was filled beside it.
import type { LogPosition } from '@paylog/domain/logPosition'
import type { Pool, PoolClient } from 'pg'
import type { Projection } from '../projection.ts'
import { differencesOf, type RowDifference, sumOf, type TableSum } from '../tables/comparison.ts'
import { tableName } from '../tables/tables.ts'
import type { Follower } from './following.ts'
import { alongsideLive } from './sideBySide.ts'

export type Comparison = {
  /** Both tables had read the log up to here. */
  readonly position: LogPosition | undefined
  readonly live: TableSum & { readonly version: number }
  readonly expected: TableSum
  /** Rows that are not what they should be. */
  readonly differing: number
}

/** Time and room for a look over everything, as of one moment; some time also for whoever is told of the differences. */
const beginComparison = `begin isolation level repeatable read read only; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = '10min'; set local work_mem = '64MB'`

/**
 * Compares the live table with one that is filled beside it, both at the same position. The projector waits some
 * milliseconds until that moment is there; it goes on while the rows are looked at.
 * @param options `onDifference` is told of each row that differs, in the order of their ids
 * @returns nothing when there is no live table of this definition
 */
export async function compareWithLive(options: {
  readonly pool: Pool
  readonly projection: Projection
  readonly version: number
  readonly follower: Follower
  readonly onDifference: (difference: RowDifference) => Promise<void> | void
}): Promise<Comparison | undefined> {
  const { pool, projection, version, onDifference } = options
  const client = await pool.connect()
  try {
    const live = await alongsideLive(options, async (_, held) => {
      if (held?.definition !== projection.schemaVersion) return undefined
      // The first query fixes what the whole transaction sees, and keeps both tables from being dropped until its end.
      const names = [held.version, version].map((of) => `read_models.${tableName(projection, of)}`)
      await client.query(beginComparison)
      await client.query(`select from ${names.join(', ')} limit 0`)
      return held
    })
    if (live === undefined) return undefined
    const compared = await compare(client, { projection, found: live.version, expected: version, onDifference })
    await client.query('commit')
    return { position: live.position, ...compared }
  } finally {
    // In whatever state: a transaction that only reads has nothing to keep.
    client.release(true)
  }
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
