// A batch of events taken into the worker's list: rows and checkpoint together.

import {
  type CheckpointMove,
  moveCheckpointSql,
  moveParameters,
  StaleCheckpointError,
} from '@paylog/deliveries/subscriptions/checkpoint'
import { toPostgresText } from '@paylog/deliveries/tables/storable'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { Pool } from 'pg'
import type { ReconcilePlan } from './plan.ts'

/** What an event of a payment or of a notification means for it. */
export type PlannedEvent = { readonly event: Recorded; readonly plan: ReconcilePlan }

/**
 * Sets and clears the times of every payment and notification of a batch and moves the checkpoint, in one statement and
 * so in one transaction. Who has no time left is taken off the list.
 * @param planned in the order of the log; of two events that set the same time, the later one counts
 * @throws StaleCheckpointError, with nothing changed, when the checkpoint is not at `from`
 */
export async function recordPlans(
  pool: Pool,
  batch: CheckpointMove & { readonly planned: readonly PlannedEvent[] },
): Promise<void> {
  const bySubject = Map.groupBy(batch.planned, ({ event }) => toPostgresText(event.stream))
  const rows = [...bySubject].map(([subject, planned]) => ({ subject, ...rowOf(planned) }))
  const { rows: results } = await pool.query<{ moved: number }>({
    name: 'record-follow-ups',
    text: recordPlansSql,
    values: [...moveParameters(batch), JSON.stringify(rows)],
  })
  if (results[0]?.moved !== 1) throw new StaleCheckpointError(batch.name)
}

/** All events of one subject as one change. */
function rowOf(planned: readonly PlannedEvent[]) {
  const [first] = planned
  const last = planned.at(-1)
  if (!first || !last) throw new Error('A change without events')
  const latest = (time: keyof ReconcilePlan) => planned.findLast(({ plan }) => plan[time] !== undefined)?.plan[time]
  const { data, id, type } = last.event
  if (!('provider_id' in data)) throw new Error(`${type} says nothing about a provider`)
  const [finish, ask, watch] = [latest('finish'), latest('ask'), latest('watch')]
  return {
    provider_id: data.provider_id,
    payment_id: 'payment_id' in data ? data.payment_id : null,
    sets_finish: finish !== undefined,
    finish_at: finish ?? null,
    sets_ask: ask !== undefined,
    ask_at: ask ?? null,
    sets_watch: watch !== undefined,
    watch_at: watch ?? null,
    pauses: ask ? 0 : 1,
    correlation_id: toPostgresText(first.event.metadata.correlationId),
    event_id: id,
  }
}

/** The rows of the update are locked before they are read, so what a follow-up has just decided is not undone here. */
const recordPlansSql = `
with moved as (${moveCheckpointSql}
), planned as (
  select p.*, num_nonnulls(finish_at, ask_at, watch_at) = 0 as is_over
  from moved, json_to_recordset($7::json) as p (subject text, provider_id text, payment_id text,
    sets_finish boolean, finish_at timestamptz, sets_ask boolean, ask_at timestamptz,
    sets_watch boolean, watch_at timestamptz, pauses integer, correlation_id text, event_id uuid)
), updated as (
  update webhooks.follow_ups f
  set finish_at = case when p.sets_finish then p.finish_at else f.finish_at end,
      ask_at = case when p.sets_ask then p.ask_at else f.ask_at end,
      watch_at = case when p.sets_watch then p.watch_at else f.watch_at end,
      pauses = p.pauses, version = f.version + 1, event_id = p.event_id
  from planned p
  where f.subject = p.subject and not p.is_over
  returning f.subject
), inserted as (
  insert into webhooks.follow_ups (subject, provider_id, payment_id, finish_at, ask_at, watch_at, pauses,
    correlation_id, event_id)
  select subject, provider_id, payment_id, finish_at, ask_at, watch_at, pauses, correlation_id, event_id
  from planned
  where not is_over and subject not in (select subject from updated)
), ended as (
  delete from webhooks.follow_ups f using planned p where f.subject = p.subject and p.is_over
)
select (select count(*)::int from moved) as moved`
