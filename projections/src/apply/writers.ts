// How a folded batch gets into a table: set by set, whatever its size.
import { finished } from 'node:stream/promises'
import type { ClientBase } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Projection } from '../projection.ts'
import { tableName } from '../tables/tables.ts'
import type { FoldedBatch } from './batch.ts'
import { copyText } from './copyText.ts'
import { createStatements } from './statements.ts'

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
