// The one transaction behind the promise that nothing is lost or told twice: rows and checkpoint together.
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import {
  type CheckpointMove,
  moveCheckpointSql,
  moveParameters,
  StaleCheckpointError,
} from '../subscriptions/checkpoint.ts'
import { storable } from './storable.ts'

export type MappedBatch = CheckpointMove & { readonly messages: readonly Outbound[] }

/** How long a job may stay unseen before its row counts as one that has none. */
export const graceMs = 2_000

/**
 * Inserts what is new of a batch and moves the checkpoint, in one statement and so in one transaction.
 * @returns the messages that were not there before, in their order
 * @throws StaleCheckpointError, with nothing changed, when the checkpoint is not at `from`
 */
export async function recordBatch(pool: Pool, batch: MappedBatch): Promise<Outbound[]> {
  const { messages, at } = batch
  const { rows } = await pool.query<{ moved: number; inserted: string[] }>({
    name: 'record-deliveries',
    text: recordSql,
    values: [...moveParameters(batch), new Date(at.getTime() + graceMs), JSON.stringify(messages.map(deliveryRow))],
  })
  const [result] = rows
  if (result?.moved !== 1) throw new StaleCheckpointError(batch.name)
  const inserted = new Set(result.inserted)
  return messages.filter(({ id }) => inserted.has(id))
}

const recordSql = `
with moved as (${moveCheckpointSql}
), inserted as (
  insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, payment_id, user_id, is_test, next_attempt_at, sweep_at, created_at)
  select m.id, m.node, m.event, m.mode, m.provider, m.body, m.source_stream, m.source_revision,
    m.source_event_id, m.correlation_id, m.causation_id, m.payment_id, m.user_id, m.is_test, $6, $7, $6
  from moved, json_to_recordset($8::json) as m (id uuid, node text, event text, mode text, provider text, body text,
    source_stream text, source_revision bigint, source_event_id uuid, correlation_id text, causation_id text,
    payment_id text, user_id text, is_test boolean)
  on conflict (id) do nothing
  returning id
)
select (select count(*)::int from moved) as moved, array(select id::text from inserted) as inserted`

/** Everything but the body, which is JSON: that holds neither a NUL nor half a surrogate pair. */
function deliveryRow(message: Outbound) {
  return {
    ...message,
    event: storable(message.event),
    source_revision: message.source_revision.toString(),
    correlation_id: storable(message.correlation_id),
    causation_id: storable(message.causation_id),
    payment_id: message.payment_id === null ? null : storable(message.payment_id),
    user_id: message.user_id === null ? null : storable(message.user_id),
  }
}
