// The one transaction behind the promise that nothing is lost or told twice: rows and checkpoint together.
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import {
  type CheckpointMove,
  moveCheckpointSql,
  moveParameters,
  StaleCheckpointError,
} from '../subscriptions/checkpoint.ts'
import { insertNewSql, newRows } from './newRows.ts'

export type MappedBatch = CheckpointMove & { readonly messages: readonly Outbound[] }

/** How long a job may stay unseen before its row counts as one that has none. */
export const graceMs = 2_000

/**
 * Inserts what is new of a batch and moves the checkpoint, in one statement and so in one transaction.
 * @returns the messages that were not there before, in their order
 * @throws StaleCheckpointError, with nothing changed, when the checkpoint is not at `from`
 */
export async function recordDeliveries(pool: Pool, batch: MappedBatch): Promise<Outbound[]> {
  const { messages, at } = batch
  const { rows } = await pool.query<{ moved: number; inserted: string[] }>({
    name: 'record-deliveries',
    text: recordDeliveriesSql,
    values: [...moveParameters(batch), new Date(at.getTime() + graceMs), newRows(messages)],
  })
  const [result] = rows
  if (result?.moved !== 1) throw new StaleCheckpointError(batch.name)
  const inserted = new Set(result.inserted)
  return messages.filter(({ id }) => inserted.has(id))
}

const recordDeliveriesSql = `
with moved as (${moveCheckpointSql}
), inserted as (
  ${insertNewSql({ rows: '$8', at: '$6', sweepAt: '$7' }, ['moved'])}
  returning id
)
select (select count(*)::int from moved) as moved, array(select id::text from inserted) as inserted`
