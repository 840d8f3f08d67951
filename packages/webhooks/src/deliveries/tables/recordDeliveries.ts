// Inserts new deliveries together with the checkpoint, which makes sure that no event is lost or handled twice.

import type { Pool } from 'pg'
import type { Outbound } from '../../messages/outbound.ts'
import {
  type CheckpointMove,
  moveCheckpointSql,
  moveParameters,
  StaleCheckpointError,
} from '../subscriptions/checkpoint.ts'

export type MappedBatch = CheckpointMove & {
  readonly messages: readonly Outbound[]
  /** When the oldest event of the batch was recorded: none of its deliveries finished before. */
  readonly since: Date
}

/** Claims new deliveries as they are inserted, so that the worker that maps the log need not read them again. */
export type NewClaims = {
  readonly worker: string
  /** When the lease of a message's delivery ends; `undefined` for one that is not claimed. */
  readonly leaseOf: (message: Outbound) => Date | undefined
}

/** A new delivery, and whether it is claimed. */
export type NewDelivery = { readonly message: Outbound; readonly isClaimed: boolean }

/**
 * Inserts the new messages of a batch and moves the checkpoint, in one statement and thus in one transaction. A delivery is not
 * claimed while its endpoint is paused, or an earlier one of its stream waits for its first attempt.
 * @returns the messages that were new, in their order
 * @throws StaleCheckpointError, with nothing changed, when the checkpoint is not at `from`
 */
export async function recordDeliveries(pool: Pool, batch: MappedBatch, claims: NewClaims): Promise<NewDelivery[]> {
  const { messages, at, since } = batch
  const moved = moveParameters(batch)
  const day = firstDay(since)
  const { rows } = await pool.query<{ moved: number; inserted: Record<string, boolean> }>({
    name: `record-deliveries-${day}`,
    text: recordSql(moved.length, day),
    values: [...moved, newRows(messages, claims.leaseOf), at, claims.worker],
  })
  const [result] = rows
  if (result?.moved !== 1) throw new StaleCheckpointError(batch.name)
  const { inserted } = result
  return messages.flatMap((message) => {
    const isClaimed = inserted[message.id]
    return isClaimed === undefined ? [] : [{ message, isClaimed }]
  })
}

/**
 * Makes text acceptable for Postgres: replaces NULs and unpaired surrogates. Third parties choose ids and response bodies,
 * and one rejected row would stop the subscription. JSON bodies contain neither.
 */
export function toPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** The columns that a delivery keeps from its record to its end. */
export const sourceColumns = `id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
  correlation_id, causation_id, payment_id, user_id, is_test, traceparent, created_at, key_ids`

const clockMarginMs = 3_600_000

/** The day whose partition may have the oldest delivery of an event of this time. */
export const firstDay = (since: Date): string => new Date(since.getTime() - clockMarginMs).toISOString().slice(0, 10)

/**
 * Inserts rows that are neither pending nor finished, in the order of the messages, so that two inserts of the same rows cannot
 * deadlock. Both tables are read in one snapshot, because a delivery moves from one to the other; the unique key then decides
 * between inserts that run at the same time.
 *
 * The day is part of the text, so that only the partitions from that day on are planned, locked and searched.
 * @param parameters placeholders for the rows of `newRows`, the time they are created and due, and the worker that claims
 * @param day from `firstDay`
 * @param from further row sources to join; without their rows nothing is inserted
 */
export function insertNewSql(
  parameters: { readonly rows: string; readonly at: string; readonly worker: string },
  day: string,
  from: readonly string[] = [],
): string {
  const { rows, at, worker } = parameters
  return `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, payment_id, user_id, is_test, traceparent, next_attempt_at,
    created_at, key_ids, claimed_until, claimed_by)
  select m.id, m.node, m.event, m.mode, m.provider, m.body, m.source_stream, m.source_revision,
    m.source_event_id, m.correlation_id, m.causation_id, m.payment_id, m.user_id, m.is_test, m.traceparent, ${at},
    ${at}, m.key_ids, lease.until, case when lease.until is not null then ${worker}::uuid end
  from ${from.map((source) => `${source}, `).join('')}json_to_recordset(${rows}::json) as m (id uuid, node text,
    event text, mode text, provider text, body text, source_stream text, source_revision bigint, source_event_id uuid,
    correlation_id text, causation_id text, payment_id text, user_id text, is_test boolean,
    traceparent text, key_ids uuid[], claimed_until timestamptz)
  cross join lateral (
    select case when m.claimed_until is not null
      and not exists (select from webhooks.nodes n where n.name = m.node and n.disabled_at is not null)
      and not exists (
        select from webhooks.deliveries e
        where e.source_stream = m.source_stream and e.node = m.node and e.source_revision < m.source_revision
          and e.attempts = 0
      ) then m.claimed_until end as until
  ) as lease
  where ${isMissing('m.id', day)}
  on conflict (id) do nothing`
}

/**
 * A condition for ids that are in neither table. `any (array[…])` cannot be hashed, so the plan uses the indexes. The upper bound
 * only leaves out partitions: deliveries may end after `now()`, when the transaction started, while it waits for a lock.
 */
export const isMissing = (id: string, day: string) => `not exists (
    select from webhooks.deliveries p where p.id = any (array[${id}])
  ) and not exists (
    select from webhooks.finished_deliveries f
    where f.id = any (array[${id}]) and f.ended_at >= timestamptz '${day} 00:00:00+00'
      and f.ended_at < now() + interval '1 day'
  )`

/** The value of the `rows` parameter. */
export const newRows = (messages: readonly Outbound[], leaseOf: NewClaims['leaseOf'] = () => undefined): string =>
  JSON.stringify(messages.map((message) => newRow(message, leaseOf(message))))

/** Cleans everything but the body: JSON contains no NUL and no unpaired surrogate. */
function newRow({ endpoint: node, ...message }: Outbound, claimed_until: Date | undefined) {
  const { event, source_revision, correlation_id, causation_id, payment_id, user_id } = message
  return {
    ...message,
    node,
    event: toPostgresText(event),
    source_revision: source_revision.toString(),
    correlation_id: toPostgresText(correlation_id),
    causation_id: toPostgresText(causation_id),
    payment_id: payment_id === null ? null : toPostgresText(payment_id),
    user_id: user_id === null ? null : toPostgresText(user_id),
    claimed_until,
  }
}

/** @param moved the number of the checkpoint's parameters, which come first */
function recordSql(moved: number, day: string): string {
  const [rows, at, worker] = [1, 2, 3].map((place) => `$${moved + place}`) as [string, string, string]
  return `
with moved as (${moveCheckpointSql}
), inserted as (
  ${insertNewSql({ rows, at: `${at}::timestamptz`, worker }, day, ['moved'])}
  returning id, claimed_by
)
select (select count(*)::int from moved) as moved,
  (select coalesce(json_object_agg(id, claimed_by is not null), '{}') from inserted) as inserted`
}
