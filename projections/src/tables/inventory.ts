// What there is of a projection in the database, for those who look after it.
import type { Pool } from 'pg'
import type { ProjectionTable } from './tables.ts'

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
