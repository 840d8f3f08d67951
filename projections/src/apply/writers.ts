// Writes folded batches into tables, with INSERT and UPDATE or with COPY.

import { finished } from 'node:stream/promises'
import type { ClientBase, QueryConfig } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Column, Merge, Value } from '../columns.ts'
import type { Projection } from '../projection.ts'
import { tableName } from '../tables/tables.ts'
import type { FoldedBatch, RowChange } from './batch.ts'

/** The value as Postgres expects it. @param type of its column; JSON is text */
export function storedText(type: string, value: Value): string | number | boolean | null {
  if (value === null) return null
  if (type === 'json' || type === 'jsonb' || typeof value === 'object') return JSON.stringify(value)
  // Postgres text has no NUL. The APIs reject it, but a recorded NUL must not stop the projector.
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
}

/** The rows in the text format of COPY: id, revision, and the columns in the order of the projection. */
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

export type Statements = {
  readonly insert: (rows: readonly RowChange[]) => QueryConfig
  readonly patch: (rows: readonly RowChange[]) => QueryConfig
}

/** The two statements of a batch. Their arrays fit every batch size, so each text is parsed once per connection. */
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
 * A whole row may exist already: after a checkpoint was reset, its stream is read again from the start. The insert then
 * updates older revisions, and a row folded from the start of its stream is complete.
 */
function insertSql(table: string, columns: readonly [string, Column][]): string {
  const names = ['id', 'revision', ...columns.map(([name]) => name)]
  const types = ['uuid', 'bigint', ...columns.map(([, { type }]) => type)]
  const updates = columns.map(([name, { isMerged, merge }]) => {
    const inserted = `excluded.${name}`
    return `${name} = ${isMerged && merge ? merge.inTable(`t.${name}`, inserted) : inserted}`
  })
  return `insert into ${table} as t (${names.join(', ')})
    select * from unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})
    on conflict (id) do update set revision = excluded.revision, ${updates.join(', ')} where t.revision < excluded.revision`
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

/** The columns that a patch sets, one bit each, because a null value differs from an unchanged column. */
function presence(patched: readonly PatchedColumn[], values: RowChange['values']): bigint {
  return patched.reduce((bits, { name }, index) => (name in values ? bits | (1n << BigInt(index)) : bits), 0n)
}

function keys(rows: readonly RowChange[]): unknown[] {
  return [rows.map(({ id }) => id), rows.map(({ revision }) => String(revision))]
}

function parameters(rows: readonly RowChange[], name: string, { type }: { readonly type: string }): unknown[] {
  return rows.map(({ values }) => storedText(type, values[name] ?? null))
}

/** Writes a batch within the transaction of `client`. */
export type RowWriter = (client: ClientBase, batch: FoldedBatch) => Promise<void>

/** For a table that may contain these events already: a repeat changes nothing. */
export function upsertRows(projection: Projection, version: number): RowWriter {
  const statements = createStatements(projection, version)
  return async (client, { inserts, patches }) => {
    if (inserts.length > 0) await client.query(statements.insert(inserts))
    if (patches.length > 0) await client.query(statements.patch(patches))
  }
}

/**
 * For a table filled from the start of the log by one process: new rows are copied, which costs a third of inserting.
 */
export function copyRows(projection: Projection, version: number): RowWriter {
  const upsert = upsertRows(projection, version)
  const columns = ['id', 'revision', ...Object.keys(projection.columns)]
  const statement = `copy read_models.${tableName(projection, version)} (${columns.join(', ')}) from stdin`
  return async (client, { inserts, patches }) => {
    const started = inserts.filter(({ begins }) => begins)
    if (started.length > 0) {
      const copying = client.query(copyFrom(statement))
      copying.end(copyText(projection, started))
      await finished(copying)
    }
    await upsert(client, { inserts: inserts.filter(({ begins }) => !begins), patches })
  }
}
