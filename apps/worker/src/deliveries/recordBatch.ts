// The one transaction behind the promise that nothing is lost or told twice: rows and checkpoint together.
import type { LogPosition } from '@paylog/event-store/codec'
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import { storable } from './storable.ts'

export type MappedBatch = {
  /** The subscription whose checkpoint moves. */
  readonly name: string
  /** The checkpoint that this runner last saw. */
  readonly from: LogPosition | undefined
  readonly to: LogPosition
  readonly messages: readonly Outbound[]
  readonly at: Date
}

/** How long a job may stay unseen before its row counts as one that has none. */
export const graceMs = 2_000

/** Somebody else moved the checkpoint: this process is not the one active runner any more. */
export class StaleCheckpointError extends Error {
  override readonly name = 'StaleCheckpointError'
}

/**
 * Inserts what is new of a batch and moves the checkpoint, in one statement and so in one transaction.
 * @returns the messages that were not there before, in their order
 * @throws StaleCheckpointError, with nothing changed, when the checkpoint is not at `from`
 */
export async function recordBatch(pool: Pool, { name, from, to, messages, at }: MappedBatch): Promise<Outbound[]> {
  const { rows } = await pool.query<{ moved: number; inserted: string[] }>({
    name: 'record-deliveries',
    text: recordSql,
    values: [
      name,
      to.commit.toString(),
      to.prepare.toString(),
      from?.commit.toString() ?? null,
      from?.prepare.toString() ?? null,
      at,
      new Date(at.getTime() + graceMs),
      JSON.stringify(messages.map(deliveryRow)),
    ],
  })
  const [result] = rows
  if (result?.moved !== 1) throw new StaleCheckpointError(`The checkpoint ${name} was moved by another runner`)
  const inserted = new Set(result.inserted)
  return messages.filter(({ id }) => inserted.has(id))
}

const recordSql = `
with moved as (
  insert into webhooks.checkpoints as c (name, commit_position, prepare_position, updated_at) values ($1, $2, $3, $6)
  on conflict (name) do update
    set commit_position = excluded.commit_position,
        prepare_position = excluded.prepare_position,
        updated_at = excluded.updated_at
    where c.commit_position = $4::bigint and c.prepare_position = $5::bigint
  returning 1
), inserted as (
  insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, payment_id, user_id, next_attempt_at, sweep_at, created_at)
  select m.id, m.node, m.event, m.mode, m.provider, m.body, m.source_stream, m.source_revision,
    m.source_event_id, m.correlation_id, m.causation_id, m.payment_id, m.user_id, $6, $7, $6
  from moved, json_to_recordset($8::json) as m (id uuid, node text, event text, mode text, provider text, body text,
    source_stream text, source_revision bigint, source_event_id uuid, correlation_id text, causation_id text,
    payment_id text, user_id text)
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
