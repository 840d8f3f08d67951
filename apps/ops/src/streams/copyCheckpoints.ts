// Who has read the log up to where, moved from the positions of one log to those of its copy.
import type { Writable } from 'node:stream'
import type { LogPosition } from '@paylog/domain/logPosition'
import { withoutCredentials } from '@paylog/event-store/connection/connectionString'
import { OpsError } from '../command.ts'
import { opsPool, type Pool } from '../opsPool.ts'

/** Whoever reads the log keeps its checkpoint in a table like these. */
const tables = ['read_models.checkpoints', 'webhooks.checkpoints'] as const
/** The row that says that a table's checkpoints are positions of this log, so that they are moved only once. */
const markerOf = (address: string) => `moved to ${address}`

export type MovedCheckpoint = {
  readonly table: string
  readonly name: string
  readonly from: bigint
  readonly to: bigint
}

export type Checkpoints = {
  /** Where they are; nothing when they have been moved to that log before. */
  readonly positions: readonly LogPosition[]
  /**
   * Moves all of them, or none.
   * @param positions the new ones, in the order of `positions`
   * @throws OpsError when one of them is no longer where it was, because somebody still reads
   */
  move(positions: readonly LogPosition[]): Promise<readonly MovedCheckpoint[]>
  close(): Promise<void>
}

type Row = { readonly table: string; readonly name: string; readonly position: LogPosition }

/**
 * Reads the checkpoints of a database.
 * @param target connection string of the log that they are to be moved to
 * @param errors where lost connections are told
 * @throws OpsError when there are none; the database's error
 */
export async function openCheckpoints(databaseUrl: string, target: string, errors: Writable): Promise<Checkpoints> {
  const { pool } = opsPool(databaseUrl, { max: 1, errors })
  const marker = markerOf(withoutCredentials(target))
  try {
    const present = await presentTables(pool)
    const rows = (await Promise.all(present.map((table) => readRows(pool, table)))).flat()
    const isMoved = rows.some(({ name }) => name === marker)
    const left = isMoved ? [] : rows
    return {
      positions: left.map(({ position }) => position),
      move: (positions) => moveAll(pool, { rows: left, positions, marker, tables: isMoved ? [] : present }),
      close: () => pool.end(),
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}

async function presentTables(pool: Pool): Promise<string[]> {
  const found: string[] = []
  for (const table of tables) {
    const { rows } = await pool.query<{ oid: string | null }>('select to_regclass($1)::text as oid', [table])
    if (rows[0]?.oid) found.push(table)
  }
  if (found.length === 0)
    throw new OpsError(`There are no checkpoints in this database: neither ${tables.join(' nor ')}.`)
  return found
}

async function readRows(pool: Pool, table: string): Promise<Row[]> {
  const { rows } = await pool.query<{ name: string; commit_position: bigint; prepare_position: bigint }>(
    // A projection that has read nothing yet has a row without a position, and starts at the beginning anyway.
    `select name, commit_position, prepare_position from ${table} where commit_position is not null order by name`,
  )
  return rows.map(({ name, commit_position, prepare_position }) => {
    return { table, name, position: { commit: commit_position, prepare: prepare_position } }
  })
}

async function moveAll(
  pool: Pool,
  options: {
    readonly rows: readonly Row[]
    readonly positions: readonly LogPosition[]
    readonly marker: string
    readonly tables: readonly string[]
  },
): Promise<MovedCheckpoint[]> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const moves: MovedCheckpoint[] = []
    for (const [index, { table, name, position }] of options.rows.entries()) {
      const to = options.positions[index]
      if (to === undefined) throw new Error(`The position of ${name} was not translated`)
      const { rowCount } = await client.query(
        `update ${table} set commit_position = $2, prepare_position = $3, updated_at = now()
         where name = $1 and commit_position = $4 and prepare_position = $5`,
        [name, to.commit, to.prepare, position.commit, position.prepare].map(String),
      )
      if (rowCount !== 1)
        throw new OpsError(`The checkpoint ${name} has moved meanwhile: stop projector and worker first.`)
      moves.push({ table, name, from: position.commit, to: to.commit })
    }
    for (const table of options.tables) {
      await client.query(
        `insert into ${table} (name, commit_position, prepare_position, updated_at) values ($1, 0, 0, now())`,
        [options.marker],
      )
    }
    await client.query('commit')
    return moves
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}
