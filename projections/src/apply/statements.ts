// The two statements that write a batch. Arrays keep them the same for every size of a batch, so that
// each is parsed once per connection.
import type { QueryConfig } from 'pg'
import type { Column, Merge, Projection } from '../projection.ts'
import { tableName } from '../tables/tables.ts'
import type { RowChange } from './batch.ts'
import { storedText } from './storedText.ts'

export type Statements = {
  readonly insert: (rows: readonly RowChange[]) => QueryConfig
  readonly patch: (rows: readonly RowChange[]) => QueryConfig
}

/** Both statements leave alone what the table knows better already: a repeat changes nothing. */
export function createStatements(projection: Projection, version: number): Statements {
  const table = `read_models.${tableName(projection, version)}`
  const label = `${projection.name}@${version}`
  const columns = Object.entries(projection.columns)
  const patched = columns.flatMap(([name, { type, merge }]) => (merge ? [{ name, type, merge }] : []))
  const insertText = insertSql(table, columns)
  const patchText = patchSql(table, patched)
  return {
    insert: (rows) => ({
      name: `${label} insert`,
      text: insertText,
      values: [...keys(rows), ...columns.map(([name, column]) => parameters(rows, name, column))],
    }),
    patch: (rows) => ({
      name: `${label} patch`,
      text: patchText,
      values: [
        ...keys(rows),
        rows.map(({ values }) => String(presence(patched, values))),
        ...patched.map((column) => parameters(rows, column.name, column)),
      ],
    }),
  }
}

/**
 * A whole row may meet one that is there: when a checkpoint was put back, its stream is read from the start. It then
 * takes over only what is newer, and a row folded from the stream's start is complete.
 */
function insertSql(table: string, columns: readonly [string, Column][]): string {
  const names = ['id', 'revision', ...columns.map(([name]) => name)]
  const types = ['uuid', 'bigint', ...columns.map(([, { type }]) => type)]
  const updates = names.slice(1).map((name) => `${name} = excluded.${name}`)
  return `insert into ${table} as t (${names.join(', ')})
    select * from unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})
    on conflict (id) do update set ${updates.join(', ')} where t.revision < excluded.revision`
}

type PatchedColumn = { readonly name: string; readonly type: string; readonly merge: Merge }

function patchSql(table: string, patched: readonly PatchedColumn[]): string {
  const names = ['id', 'revision', 'present', ...patched.map(({ name }) => name)]
  const types = ['uuid', 'bigint', 'bigint', ...patched.map(({ type }) => type)]
  const updates = patched.map(
    ({ name, merge }, index) =>
      `${name} = case when u.present & ${1n << BigInt(index)} <> 0
        then ${merge.inTable(`t.${name}`, `u.${name}`)} else t.${name} end`,
  )
  return `update ${table} as t set ${['revision = u.revision', ...updates].join(', ')}
    from unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')}) as u (${names.join(', ')})
    where t.id = u.id and t.revision < u.revision`
}

/** Which columns a patch sets, one bit each: a null that is set and a column that is left alone are not the same. */
function presence(patched: readonly PatchedColumn[], values: RowChange['values']): bigint {
  return patched.reduce((bits, { name }, index) => (name in values ? bits | (1n << BigInt(index)) : bits), 0n)
}

function keys(rows: readonly RowChange[]): unknown[] {
  return [rows.map(({ id }) => id), rows.map(({ revision }) => String(revision))]
}

function parameters(rows: readonly RowChange[], name: string, { type }: { readonly type: string }): unknown[] {
  return rows.map(({ values }) => storedText(type, values[name] ?? null))
}
