// Inserts new deliveries together with the checkpoint, which makes sure that no event is lost or handled twice.
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import {
  type CheckpointMove,
  moveCheckpointSql,
  moveParameters,
  StaleCheckpointError,
} from '../subscriptions/checkpoint.ts'

export type MappedBatch = CheckpointMove & { readonly messages: readonly Outbound[] }

/** How long a due row may have no visible job before the requeuer adds one. */
export const graceMs = 2_000

/**
 * Inserts the new messages of a batch and moves the checkpoint, in one statement and thus in one transaction.
 * @returns the messages that were new, in their order
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

/**
 * Makes text acceptable for Postgres: replaces NULs and unpaired surrogates. Third parties choose ids and response bodies,
 * and one rejected row would stop the subscription. JSON bodies contain neither.
 */
export function toPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/**
 * Inserts missing rows in the order of the messages, so that two inserts of the same rows cannot deadlock.
 * @param parameters placeholders for the rows of `newRows`, the time they are created and due, and when the requeuer may
 *   look at them
 * @param from further row sources to join; without their rows nothing is inserted
 */
export function insertNewSql(
  parameters: { readonly rows: string; readonly at: string; readonly requeueAt: string },
  from: readonly string[] = [],
): string {
  const { rows, at, requeueAt } = parameters
  return `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, payment_id, user_id, is_test, traceparent, next_attempt_at,
    requeue_at, created_at)
  select m.id, m.node, m.event, m.mode, m.provider, m.body, m.source_stream, m.source_revision,
    m.source_event_id, m.correlation_id, m.causation_id, m.payment_id, m.user_id, m.is_test, m.traceparent, ${at},
    ${requeueAt}, ${at}
  from ${from.map((source) => `${source}, `).join('')}json_to_recordset(${rows}::json) as m (id uuid, node text,
    event text, mode text, provider text, body text, source_stream text, source_revision bigint, source_event_id uuid,
    correlation_id text, causation_id text, payment_id text, user_id text, is_test boolean,
    traceparent text)
  on conflict (id) do nothing`
}

/** The value of the `rows` parameter. */
export const newRows = (messages: readonly Outbound[]): string => JSON.stringify(messages.map(newRow))

/** Cleans everything but the body: JSON contains no NUL and no unpaired surrogate. */
function newRow(message: Outbound) {
  const { event, source_revision, correlation_id, causation_id, payment_id, user_id } = message
  return {
    ...message,
    event: toPostgresText(event),
    source_revision: source_revision.toString(),
    correlation_id: toPostgresText(correlation_id),
    causation_id: toPostgresText(causation_id),
    payment_id: payment_id === null ? null : toPostgresText(payment_id),
    user_id: user_id === null ? null : toPostgresText(user_id),
  }
}

const recordDeliveriesSql = `
with moved as (${moveCheckpointSql}
), inserted as (
  ${insertNewSql({ rows: '$9', at: '$7', requeueAt: '$8' }, ['moved'])}
  returning id
)
select (select count(*)::int from moved) as moved, array(select id::text from inserted) as inserted`
