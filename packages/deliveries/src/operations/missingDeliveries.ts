// Deliveries that are made beside the worker's own reading of the log: without its checkpoint, due at once.
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import { insertNewSql, newRows } from '../tables/newRows.ts'

/** Inserts those that are not there. @returns how many there were not */
export async function insertMissing(pool: Pool, messages: readonly Outbound[], at: Date): Promise<number> {
  if (messages.length === 0) return 0
  const { rowCount } = await pool.query({
    name: 'insert-missing-deliveries',
    text: insertSql,
    values: [newRows(messages), at],
  })
  return rowCount ?? 0
}

const insertSql = insertNewSql({ rows: '$1', at: '$2', sweepAt: '$2' })

/** How many of them are not there. */
export async function countMissing(pool: Pool, messages: readonly Outbound[]): Promise<number> {
  if (messages.length === 0) return 0
  const { rows } = await pool.query<{ present: number }>({
    name: 'count-present-deliveries',
    text: 'select count(*)::int as present from webhooks.deliveries where id = any($1::uuid[])',
    values: [messages.map(({ id }) => id)],
  })
  return messages.length - (rows[0]?.present ?? 0)
}
