// The tables of a projection: creating, listing and dropping them, and switching the view to another one.
import type { LogCheckpoint } from '@paylog/domain/events'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { ClientBase, Pool } from 'pg'
import { CheckpointLostError, checkpointName, positionIn } from '../apply/checkpoints.ts'
import type { Projection } from '../projection.ts'
import { createTableSql, viewSql } from './tableSql.ts'

const invalidTableDefinition = '42P16'

/**
 * Points the view to this table, within the transaction of `client`, whose search path starts with the schema. Queries wait
 * meanwhile, and see the new table afterwards.
 */
async function showTable(client: ClientBase, projection: Projection, table: string): Promise<void> {
  const { name } = projection
  const definition = `view ${name} as ${viewSql(projection, table)}`
  await client.query('savepoint view')
  try {
    await client.query(`create or replace ${definition}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === invalidTableDefinition)) throw error
    // `create or replace` can only append columns; any other change needs a new view.
    await client.query('rollback to savepoint view')
    const grants = await grantsOn(client, name)
    await client.query(`drop view ${name}`)
    await client.query(`create ${definition}`)
    for (const grant of grants) await client.query(grant)
  }
}

/** The statements that restore the view's privileges, which are dropped with it. */
async function grantsOn(client: ClientBase, view: string): Promise<string[]> {
  const { rows } = await client.query<{ grant: string }>(
    `select format('grant %s on %I to %s%s', privilege_type, relname,
       case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
       case when is_grantable then ' with grant option' else '' end) as grant
     from pg_class, aclexplode(relacl)
     where pg_class.oid = $1::regclass and grantee <> relowner`,
    [view],
  )
  return rows.map(({ grant }) => grant)
}

type Queryable = Pick<ClientBase | Pool, 'query'>

/** See the migration that creates the table `tables`. */
export type TableState = 'building' | 'live' | 'retired' | 'scratch'

export type ProjectionTable = {
  readonly projection: string
  readonly version: number
  readonly schema_version: number
  readonly state: TableState
  readonly since: Date
}

/** The table name of a version. Only projectors and rebuilds use it; queries use the view. */
export function tableName({ name }: Pick<Projection, 'name'>, version: number): string {
  return `${name}_v${version}`
}

/** All tables, or those of one projection, in the order of their creation. */
export async function listTables(db: Queryable, projectionName?: string): Promise<ProjectionTable[]> {
  const { rows } = await db.query<ProjectionTable>(
    `select projection, version, schema_version, state, since from read_models.tables
     where projection = coalesce($1, projection) order by projection, version`,
    [projectionName ?? null],
  )
  return rows
}

/**
 * Creates the next table of a projection, empty and without indexes that would slow down filling.
 * @returns its version
 */
export async function makeTable(pool: Pool, projection: Projection, state: 'building' | 'scratch'): Promise<number> {
  return await inSchema(pool, async (client) => {
    // Serializes concurrent creations, so that each gets the next number.
    await client.query('lock table tables in exclusive mode')
    const { rows } = await client.query<{ version: number }>(
      `insert into tables (projection, version, schema_version, state)
       select $1, coalesce(max(version), 0) + 1, $2, $3 from tables where projection = $1 returning version`,
      [projection.name, projection.schemaVersion, state],
    )
    const version = rows[0]?.version ?? 1
    await client.query(createTableSql(projection, tableName(projection, version)))
    await addCheckpoint(client, projection, version)
    return version
  })
}

/**
 * Creates the indexes that a filled table lacks, and analyzes it for good query plans. The vacuum marks pages as
 * all-visible, which index-only scans need.
 */
export async function indexTable(pool: Pool, projection: Projection, version: number): Promise<void> {
  const table = tableName(projection, version)
  await inSchema(pool, (client) => client.query(projection.indexes(table)))
  // VACUUM cannot run in a transaction.
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(`vacuum (analyze) read_models.${table}`)
  } finally {
    // Closes the connection, because of its changed settings.
    client.release(true)
  }
}

/**
 * Drops a table that is not live; a missing table is ignored.
 * @param options the time to wait for those who read it; without a limit by default
 * @throws database errors, among them 55P03 when they do not end in time
 */
export async function dropTable(
  pool: Pool,
  projection: Pick<Projection, 'name'>,
  version: number,
  { lockTimeoutMs = 0 } = {},
): Promise<void> {
  await inSchema(pool, async (client) => {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    const { rows } = await client.query<{ state: TableState }>(
      'select state from tables where projection = $1 and version = $2 for update',
      [projection.name, version],
    )
    if (rows[0]?.state === 'live') throw new Error(`${tableName(projection, version)} is the live table`)
    await client.query(`drop table if exists ${tableName(projection, version)}`)
    await client.query('delete from checkpoints where name = $1', [checkpointName(projection, version)])
    await client.query('delete from tables where projection = $1 and version = $2', [projection.name, version])
  })
}

/**
 * The table that an interrupted rebuild of this schema version left, or a new one. Drops those of other schema versions.
 * The caller holds the lock for rebuilds.
 * @returns its version
 */
export async function unfinishedOrNewTable(pool: Pool, projection: Projection): Promise<number> {
  const unfinished = (await listTables(pool, projection.name)).filter(({ state }) => state === 'building')
  const ours = unfinished.findLast((table) => table.schema_version === projection.schemaVersion)
  for (const table of unfinished) if (table !== ours) await dropTable(pool, projection, table.version)
  return ours?.version ?? (await makeTable(pool, projection, 'building'))
}

/** Drops tables that interrupted verifications left. The caller holds the lock for verifications. */
export async function dropScratchTables(pool: Pool, projection: Projection): Promise<void> {
  const tables = await listTables(pool, projection.name)
  for (const { state, version } of tables) if (state === 'scratch') await dropTable(pool, projection, version)
}

/** A projection's live table; `undefined` before the first one was created. */
export async function liveTable(
  db: Queryable,
  { name }: Pick<Projection, 'name'>,
): Promise<ProjectionTable | undefined> {
  return (await listTables(db, name)).find(({ state }) => state === 'live')
}

/** The live table's checkpoint, locked so that no events are applied. */
export type LockedCheckpoint = {
  readonly version: number
  readonly schema_version: number
  readonly position: LogCheckpoint | undefined
}

/**
 * Locks the live table's checkpoint until the end of the transaction, so that no events are applied meanwhile.
 * @returns its position
 */
export async function lockLiveCheckpoint(
  client: ClientBase,
  projection: Projection,
): Promise<LockedCheckpoint | undefined> {
  const { rows } = await client.query<{
    version: number
    schema_version: number
    commit_position: string | null
    prepare_position: string | null
    event_id: string | null
  }>(
    `select version, schema_version, commit_position::text, prepare_position::text, event_id
     from read_models.tables join read_models.checkpoints on name = projection || '@' || version
     where projection = $1 and state = 'live' for update of checkpoints`,
    [projection.name],
  )
  const [live] = rows
  if (live === undefined) return undefined
  return { version: live.version, schema_version: live.schema_version, position: positionIn(live) }
}

/** The table that is to become live. */
export type Successor = {
  readonly version: number
  /** The position up to which it is filled. */
  readonly position: LogCheckpoint | undefined
  /** How long to wait for the view's lock. Queries on the view wait behind this request. */
  readonly viewLockTimeoutMs: number
}

/**
 * Makes another table live, within the transaction of `client`, which has locked the live checkpoint. A process that still
 * applies events to the old table loses its checkpoint.
 * @throws CheckpointLostError when another process has recreated this version meanwhile; database errors, among them 55P03
 *   when the view is in use for too long
 */
export async function promoteTable(client: ClientBase, projection: Projection, successor: Successor): Promise<void> {
  const { version, viewLockTimeoutMs } = successor
  await lockBuiltTable(client, projection, successor)
  const before = await liveTable(client, projection)
  await client.query('set local search_path to read_models, public')
  await client.query(`set local lock_timeout = ${viewLockTimeoutMs}`)
  await showTable(client, projection, tableName(projection, version))
  if (before !== undefined) {
    await client.query('delete from checkpoints where name = $1', [checkpointName(projection, before.version)])
    await changeState(client, projection, before.version, 'retired')
  }
  await changeState(client, projection, version, 'live')
}

/** Guards against a process that lost its lock and slept while others dropped the table and filled another with its name. */
async function lockBuiltTable(
  client: ClientBase,
  projection: Projection,
  { version, position }: Successor,
): Promise<void> {
  const { rowCount } = await client.query(
    `select from read_models.tables join read_models.checkpoints on name = projection || '@' || version
     where projection = $1 and version = $2 and state = 'building'
     and commit_position is not distinct from $3::bigint and event_id is not distinct from $4::uuid
     for update`,
    [projection.name, version, position && String(position.commit), position?.eventId],
  )
  if (rowCount !== 1) throw new CheckpointLostError(`${tableName(projection, version)} was moved meanwhile`)
}

async function changeState(
  client: ClientBase,
  { name }: Projection,
  version: number,
  state: 'live' | 'retired',
): Promise<void> {
  await client.query('update tables set state = $3, since = now() where projection = $1 and version = $2', [
    name,
    version,
    state,
  ])
}

async function addCheckpoint(client: ClientBase, projection: Projection, version: number): Promise<void> {
  await client.query('insert into checkpoints (name) values ($1)', [checkpointName(projection, version)])
}

/** Creates the first table and the view of a projection that has none. The caller holds the migration lock. */
export async function makeFirstTable(client: ClientBase, projection: Projection): Promise<void> {
  const { name, schemaVersion } = projection
  const first = tableName(projection, 1)
  await client.query("insert into tables (projection, version, schema_version, state) values ($1, 1, $2, 'live')", [
    name,
    schemaVersion,
  ])
  await client.query(createTableSql(projection, first))
  await client.query(projection.indexes(first))
  await client.query(`create or replace view ${name} as ${viewSql(projection, first)}`)
  await addCheckpoint(client, projection, 1)
}

/** A transaction with the schema first in its search path and without a statement timeout, for large tables. */
function inSchema<Result>(pool: Pool, work: (client: ClientBase) => Promise<Result>): Promise<Result> {
  const begin = 'begin; set local search_path to read_models, public; set local statement_timeout = 0'
  return inTransaction(pool, work, begin)
}

export type StoredTable = ProjectionTable & {
  /** The position of its checkpoint; null without one, and before the first batch. */
  readonly position: bigint | null
  readonly stopped_because: string | null
  /** Estimated by Postgres. */
  readonly rows: number
  /** Including its indexes. */
  readonly bytes: number
}

/** All tables with their sizes, or those of one projection, in the order of their creation. */
export async function listStoredTables(db: Pick<Pool, 'query'>, projectionName?: string): Promise<StoredTable[]> {
  const { rows } = await db.query<Omit<StoredTable, 'position'> & { readonly position: string | null }>(
    // Statistics are up to date but reset by a crash; the catalog has the count of the last vacuum.
    `select projection, version, schema_version, state, since, commit_position::text as position, stopped_because,
       coalesce(nullif(n_live_tup, 0), greatest(reltuples, 0), 0)::float8 as rows,
       coalesce(pg_total_relation_size(pg_class.oid), 0)::float8 as bytes
     from read_models.tables
     left join read_models.checkpoints on name = projection || '@' || version
     left join pg_class on pg_class.oid = to_regclass('read_models.' || projection || '_v' || version)
     left join pg_stat_all_tables on relid = pg_class.oid
     where projection = coalesce($1, projection) order by projection, version`,
    [projectionName ?? null],
  )
  return rows.map((row) => ({ ...row, position: row.position === null ? null : BigInt(row.position) }))
}
