// The view that queries know, and the table that it shows.

import type { LogPosition } from '@paylog/domain/events'
import type { ClientBase, Pool } from 'pg'
import { CheckpointLostError, checkpointName } from '../apply/checkpoints.ts'
import { inTransaction } from '../apply/transaction.ts'
import type { Projection } from '../projection.ts'

const invalidTableDefinition = '42P16'

/**
 * Has the view show this table, within the transaction of `client`, whose search path begins with the schema. Queries that
 * come meanwhile wait, and see the table afterwards.
 */
async function showTable(client: ClientBase, { name, table: sql }: Projection, table: string): Promise<void> {
  const definition = `view ${name} as ${sql.view(table)}`
  await client.query('savepoint view')
  try {
    await client.query(`create or replace ${definition}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === invalidTableDefinition)) throw error
    // Only columns at its end can be new; a view that shows something else has to be made anew.
    await client.query('rollback to savepoint view')
    const grants = await grantsOn(client, name)
    await client.query(`drop view ${name}`)
    await client.query(`create ${definition}`)
    for (const grant of grants) await client.query(grant)
  }
}

/** The statements that give others what they may do with a view: it goes with the view. */
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

// The tables of a projection: which there are, which one queries see, and how one takes another's place.

type Queryable = Pick<ClientBase | Pool, 'query'>

/** See the migration that makes the table of tables. */
export type TableState = 'building' | 'live' | 'retired' | 'scratch'

export type ProjectionTable = {
  readonly projection: string
  readonly version: number
  readonly definition: number
  readonly state: TableState
  readonly since: Date
}

/** The name of one version's table, within the schema. Only projectors and rebuilds know it; queries know the view. */
export function tableName({ name }: Pick<Projection, 'name'>, version: number): string {
  return `${name}_v${version}`
}

/** All tables, or those of one projection, in the order in which they were made. */
export async function listTables(db: Queryable, projectionName?: string): Promise<ProjectionTable[]> {
  const { rows } = await db.query<ProjectionTable>(
    `select projection, version, definition, state, since from read_models.tables
     where projection = coalesce($1, projection) order by projection, version`,
    [projectionName ?? null],
  )
  return rows
}

/**
 * Makes the next table of a projection, without rows and without the indexes that filling would have to keep up.
 * @returns its version
 */
export async function makeTable(pool: Pool, projection: Projection, state: 'building' | 'scratch'): Promise<number> {
  return await inSchema(pool, async (client) => {
    // Two that make one at the same time take one number after the other.
    await client.query('lock table tables in exclusive mode')
    const { rows } = await client.query<{ version: number }>(
      `insert into tables (projection, version, definition, state)
       select $1, coalesce(max(version), 0) + 1, $2, $3 from tables where projection = $1 returning version`,
      [projection.name, projection.schemaVersion, state],
    )
    const version = rows[0]?.version ?? 1
    await client.query(projection.table.create(tableName(projection, version)))
    await addCheckpoint(client, projection, version)
    return version
  })
}

/**
 * Makes the indexes of a filled table, and has Postgres look at what is in it, so that queries are planned well at once. The
 * vacuum notes which pages everybody may see whole: what is answered from an index alone reads those pages before it.
 */
export async function indexTable(pool: Pool, projection: Projection, version: number): Promise<void> {
  const table = tableName(projection, version)
  await inSchema(pool, (client) => client.query(projection.table.indexes(table)))
  // Not within a transaction.
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(`vacuum (analyze) read_models.${table}`)
  } finally {
    // With what was set for it.
    client.release(true)
  }
}

/** Removes a table that is not live; one that is gone already is no matter. */
export async function dropTable(pool: Pool, projection: Pick<Projection, 'name'>, version: number): Promise<void> {
  await inSchema(pool, async (client) => {
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

/** Removes what somebody began and never finished. The caller holds the lock under which such tables are made. */
export async function dropUnfinished(
  pool: Pool,
  projection: Projection,
  state: 'building' | 'scratch',
): Promise<number[]> {
  const tables = await listTables(pool, projection.name)
  const unfinished = tables.filter((table) => table.state === state).map(({ version }) => version)
  for (const version of unfinished) await dropTable(pool, projection, version)
  return unfinished
}

/** A projection's table that queries see, or nothing before the first one was made. */
export async function liveTable(
  db: Queryable,
  { name }: Pick<Projection, 'name'>,
): Promise<ProjectionTable | undefined> {
  return (await listTables(db, name)).find(({ state }) => state === 'live')
}

/** The live table, while nothing is applied to it. */
export type LockedCheckpoint = {
  readonly version: number
  readonly definition: number
  readonly position: LogPosition | undefined
}

/**
 * Takes the right to move the live table's checkpoint until the transaction ends: nothing is applied to it meanwhile.
 * @returns where it stands
 */
export async function lockLiveCheckpoint(
  client: ClientBase,
  projection: Projection,
): Promise<LockedCheckpoint | undefined> {
  const { rows } = await client.query<{
    version: number
    definition: number
    commit_position: string | null
    prepare_position: string | null
  }>(
    `select version, definition, commit_position::text, prepare_position::text
     from read_models.tables join read_models.checkpoints on name = projection || '@' || version
     where projection = $1 and state = 'live' for update of checkpoints`,
    [projection.name],
  )
  const [live] = rows
  if (live === undefined) return undefined
  const { version, definition, commit_position: commit, prepare_position: prepare } = live
  const position = commit && prepare ? { commit: BigInt(commit), prepare: BigInt(prepare) } : undefined
  return { version, definition, position }
}

/** The table that is to become the live one. */
export type Successor = {
  readonly version: number
  /** Where whoever filled it has left it. */
  readonly position: LogPosition | undefined
  /** How long the view is waited for. Whoever asks it meanwhile waits behind us. */
  readonly viewLockTimeoutMs: number
}

/**
 * Lets queries see another table, within the transaction of `client`, in which the live checkpoint is held. Whoever still
 * applies events to the table that was live loses its checkpoint.
 * @throws CheckpointLostError when somebody else has made another table of this version since; the database's errors, among
 *   them 55P03 when the view is in use for too long
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

/** Whoever lost the lock for it may be asleep while others drop the table, and fill one that has its name. */
async function lockBuiltTable(
  client: ClientBase,
  projection: Projection,
  { version, position }: Successor,
): Promise<void> {
  const { rowCount } = await client.query(
    `select from read_models.tables join read_models.checkpoints on name = projection || '@' || version
     where projection = $1 and version = $2 and state = 'building'
     and commit_position is not distinct from $3::bigint and prepare_position is not distinct from $4::bigint
     for update`,
    [projection.name, version, position && String(position.commit), position && String(position.prepare)],
  )
  if (rowCount !== 1) throw new CheckpointLostError(`${tableName(projection, version)} is not where it was left`)
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

/** Makes the first table of a projection that has none, with its view. The migration's lock is held. */
export async function makeFirstTable(client: ClientBase, projection: Projection): Promise<void> {
  const { name, schemaVersion, table } = projection
  const first = tableName(projection, 1)
  await client.query("insert into tables (projection, version, definition, state) values ($1, 1, $2, 'live')", [
    name,
    schemaVersion,
  ])
  await client.query(table.create(first))
  await client.query(table.indexes(first))
  await client.query(`create or replace view ${name} as ${table.view(first)}`)
  await addCheckpoint(client, projection, 1)
}

/** A transaction with the schema first in its search path, which may take as long as a large table needs. */
function inSchema<Result>(pool: Pool, work: (client: ClientBase) => Promise<Result>): Promise<Result> {
  const begin = 'begin; set local search_path to read_models, public; set local statement_timeout = 0'
  return inTransaction(pool, work, begin)
}

// What there is of a projection in the database, for those who look after it.

export type StoredTable = ProjectionTable & {
  /** Where its checkpoint stands; null without one, and before the first batch. */
  readonly position: bigint | null
  readonly stopped_because: string | null
  /** Roughly, as Postgres reckons. */
  readonly rows: number
  /** With its indexes. */
  readonly bytes: number
}

/** All tables, or those of one projection, in the order in which they were made. */
export async function listStoredTables(db: Pick<Pool, 'query'>, projectionName?: string): Promise<StoredTable[]> {
  const { rows } = await db.query<Omit<StoredTable, 'position'> & { readonly position: string | null }>(
    // The statistics know of rows at once, but begin anew after a crash; the catalogue knows what the last vacuum saw.
    `select projection, version, definition, state, since, commit_position::text as position, stopped_because,
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
