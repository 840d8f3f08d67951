// Rows of the deliveries table, as messages make them.
import type { Outbound } from '@paylog/webhooks/outbound'
import { toPostgresText } from './storable.ts'

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
