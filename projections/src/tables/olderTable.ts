// Keeps a live table of an older schema version up to date, until a rebuilt one replaces it.

import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool } from 'pg'
import { keyIdsColumn, type Projection } from '../projection.ts'
import { tableName } from './tables.ts'

/** Columns of the live table have other types than in this program, so it stays as it is until it is replaced. */
export class OlderTableError extends Error {
  override readonly name = 'OlderTableError'
}

type StoredColumn = {
  readonly name: string
  /** Whether the program has the column; null if it has another type there. */
  readonly is_known: boolean | null
  /** Whether every insert must set it. */
  readonly is_required: boolean
}

/**
 * Prepares the live table of an older program. Required columns that this program no longer has, or leaves empty, become
 * optional, and a missing column of key ids is added, which the older program does not notice.
 * @returns the projection with the columns that both have; those that the table lacks are not written
 * @throws OlderTableError; database errors, among them 55P03 when the table is in use for too long
 */
export async function fitToOlderTable(pool: Pool, projection: Projection, version: number): Promise<Projection> {
  const table = `read_models.${tableName(projection, version)}`
  const stored = await storedColumns(pool, projection, table)
  const misfits = stored.filter(({ is_known }) => is_known === null).map(({ name }) => name)
  if (misfits.length > 0)
    throw new OlderTableError(`${table} cannot be kept up to date: other types in ${misfits.join(', ')}`)
  const leftEmpty = stored.filter(
    ({ name, is_known, is_required }) => is_required && (!is_known || projection.columns[name]?.isNullable),
  )
  const changes = leftEmpty.map(({ name }) => `alter column ${name} drop not null`)
  const names = new Set(stored.map(({ name }) => name))
  const keyIds = projection.columns[keyIdsColumn]
  if (keyIds !== undefined && !names.has(keyIdsColumn)) {
    // So that erasures find the rows with sealed values. The older program knows no such values.
    changes.push(`add column if not exists ${keyIdsColumn} ${keyIds.type}`)
    names.add(keyIdsColumn)
  }
  if (changes.length > 0) await alterTable(pool, table, changes)
  const columns = Object.entries(projection.columns).filter(([name]) => names.has(name))
  return { ...projection, columns: Object.fromEntries(columns) }
}

async function storedColumns(pool: Pool, { columns }: Projection, table: string): Promise<readonly StoredColumn[]> {
  const known = [
    ['id', 'uuid'],
    ['revision', 'bigint'],
    ...Object.entries(columns).map(([name, { type }]) => [name, type]),
  ]
  const { rows } = await pool.query<StoredColumn>(
    `select attname as name, attnotnull and not atthasdef as is_required,
       case when known.name is null then false when atttypid = type::regtype then true end as is_known
     from pg_attribute left join unnest($2::text[], $3::text[]) as known (name, type) on known.name = attname
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table, known.map(([name]) => name), known.map(([, type]) => type)],
  )
  return rows
}

/** Queries queue behind this change while it waits for those that are running, so it waits only briefly. */
async function alterTable(pool: Pool, table: string, changes: readonly string[]): Promise<void> {
  const begin = "begin; set local lock_timeout = '100ms'"
  await inTransaction(pool, (client) => client.query(`alter table ${table} ${changes.join(', ')}`), begin)
}
