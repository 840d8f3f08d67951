// A value as Postgres takes it, whichever way it gets there.

import { finished } from 'node:stream/promises'
import type { ClientBase, QueryConfig } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Column, Merge, Projection, Value } from '../projection.ts'
import { tableName } from '../tables/tables.ts'
import type { FoldedBatch, RowChange } from './batch.ts'

/** @param type of its column; JSON is text */
export function storedText(type: string, value: Value): string | number | boolean | null {
  if (value === null) return null
  if (type === 'json' || typeof value === 'object') return JSON.stringify(value)
  // Postgres has no NUL in text. The edges refuse it; should one be recorded all the same, a projector may not stop for it.
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
}

// Rows in the text format of COPY (PostgreSQL documentation, "COPY", "Text Format").

/** One line for each row: id, revision, and the columns in the order in which the projection names them. */
export function copyText(projection: Projection, rows: readonly RowChange[]): string {
  const columns = Object.entries(projection.columns).map(([name, { type }]) => ({ name, type }))
  let text = ''
  for (const { id, revision, values } of rows) {
    text += `${id}\t${revision}`
    for (const { name, type } of columns) text += `\t${field(type, values[name] ?? null)}`
    text += '\n'
  }
  return text
}

const special = /[\\\n\r\t]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function field(type: string, value: Value): string {
  const stored = storedText(type, value)
  if (stored === null) return '\\N'
  if (typeof stored !== 'string') return String(stored)
  return special.test(stored) ? stored.replaceAll(/[\\\n\r\t]/g, (letter) => escapes[letter] ?? letter) : stored
}

// The two statements that write a batch. Arrays keep them the same for every size of a batch, so that
// each is parsed once per connection.

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

// How a folded batch gets into a table: set by set, whatever its size.

/** Writes a batch within the transaction of `client`. */
export type RowWriter = (client: ClientBase, batch: FoldedBatch) => Promise<void>

/** For a table that may have been written before, by whomever: a repeat changes nothing. */
export function upsertRows(projection: Projection, version: number): RowWriter {
  const statements = createStatements(projection, version)
  return async (client, { inserts, patches }) => {
    if (inserts.length > 0) await client.query(statements.insert(inserts))
    if (patches.length > 0) await client.query(statements.patch(patches))
  }
}

/**
 * For a table that is filled from the start of the log by nobody else: rows that begin are copied into it, which costs a
 * third of inserting them.
 */
export function copyRows(projection: Projection, version: number): RowWriter {
  const upsert = upsertRows(projection, version)
  const columns = ['id', 'revision', ...Object.keys(projection.columns)]
  const statement = `copy read_models.${tableName(projection, version)} (${columns.join(', ')}) from stdin`
  return async (client, { inserts, patches }) => {
    const begun = inserts.filter(({ begins }) => begins)
    if (begun.length > 0) {
      const copying = client.query(copyFrom(statement))
      copying.end(copyText(projection, begun))
      await finished(copying)
    }
    await upsert(client, { inserts: inserts.filter(({ begins }) => !begins), patches })
  }
}
