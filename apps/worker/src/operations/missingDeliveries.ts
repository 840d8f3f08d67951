// Deliveries that are made beside the worker's own reading of the log: without its checkpoint, due at once.
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import { storable } from '../deliveries/storable.ts'

/** Inserts those that are not there. @returns how many there were not */
export async function insertMissing(pool: Pool, messages: readonly Outbound[], at: Date): Promise<number> {
  if (messages.length === 0) return 0
  const { rowCount } = await pool.query({
    name: 'insert-missing-deliveries',
    text: insertSql,
    values: [JSON.stringify(messages.map(deliveryRow)), at],
  })
  return rowCount ?? 0
}

// In the order of the log, as the worker inserts its batches: two that insert the same rows wait for each other once.
const insertSql = `
insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
  source_event_id, correlation_id, causation_id, payment_id, user_id, is_test, next_attempt_at, sweep_at, created_at)
select m.id, m.node, m.event, m.mode, m.provider, m.body, m.source_stream, m.source_revision,
  m.source_event_id, m.correlation_id, m.causation_id, m.payment_id, m.user_id, m.is_test, $2, $2, $2
from json_to_recordset($1::json) as m (id uuid, node text, event text, mode text, provider text, body text,
  source_stream text, source_revision bigint, source_event_id uuid, correlation_id text, causation_id text,
  payment_id text, user_id text, is_test boolean)
on conflict (id) do nothing`

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

/** Everything but the body, which is JSON: that holds neither a NUL nor half a surrogate pair. */
function deliveryRow(message: Outbound) {
  const { event, source_revision, correlation_id, causation_id, payment_id, user_id } = message
  return {
    ...message,
    event: storable(event),
    source_revision: source_revision.toString(),
    correlation_id: storable(correlation_id),
    causation_id: storable(causation_id),
    payment_id: payment_id === null ? null : storable(payment_id),
    user_id: user_id === null ? null : storable(user_id),
  }
}
