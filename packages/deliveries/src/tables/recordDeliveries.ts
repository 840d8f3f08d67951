// Text that others chose, made fit for the database.
import type { Outbound } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import {
  type CheckpointMove,
  moveCheckpointSql,
  moveParameters,
  StaleCheckpointError,
} from '../subscriptions/checkpoint.ts'

/**
 * Text that Postgres accepts. One refused row would stop the whole subscription for ever, so what others chose (ids,
 * response bodies) loses its NULs and unpaired surrogates here. JSON bodies hold neither.
 */
export function toPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

// Rows of the deliveries table, as messages make them.

/**
 * Inserts what is not there, in the order of the messages: two that insert the same rows wait for each other once, and
 * not for ever.
 * @param parameters where the statement has them: the rows of `newRows`, when they are due and were made, when the sweep
 *   is to look after them
 * @param from further sources of rows, which all have to be there
 */
export function insertNewSql(
  parameters: { readonly rows: string; readonly at: string; readonly sweepAt: string },
  from: readonly string[] = [],
): string {
  const { rows, at, sweepAt } = parameters
  return `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, payment_id, user_id, is_test, traceparent, next_attempt_at,
    sweep_at, created_at)
  select m.id, m.node, m.event, m.mode, m.provider, m.body, m.source_stream, m.source_revision,
    m.source_event_id, m.correlation_id, m.causation_id, m.payment_id, m.user_id, m.is_test, m.traceparent, ${at},
    ${sweepAt}, ${at}
  from ${from.map((source) => `${source}, `).join('')}json_to_recordset(${rows}::json) as m (id uuid, node text,
    event text, mode text, provider text, body text, source_stream text, source_revision bigint, source_event_id uuid,
    correlation_id text, causation_id text, payment_id text, user_id text, is_test boolean,
    traceparent text)
  on conflict (id) do nothing`
}

/** The parameter with the rows. */
export const newRows = (messages: readonly Outbound[]): string => JSON.stringify(messages.map(newRow))

/** Everything but the body, which is JSON: that holds neither a NUL nor half a surrogate pair. */
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

// The one transaction behind the promise that nothing is lost or told twice: rows and checkpoint together.

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
