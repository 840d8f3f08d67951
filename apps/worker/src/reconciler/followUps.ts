// The reconciler's list of follow-ups: taken with a lease, returned with their next times, updated from the log.

import type { Recorded } from '@paylog/event-store/codec/codec'
import {
  type CheckpointMove,
  followUpsSubscription,
  moveCheckpointSql,
  moveParameters,
  readCheckpoint,
  StaleCheckpointError,
} from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { toPostgresText } from '@paylog/webhooks/deliveries/tables/recordDeliveries'
import type { Pool } from 'pg'
import type { CheckTimes, ReconcilePlan } from './plan.ts'

/** One entry of the list, leased to the worker that took it. */
export type FollowUp = {
  /** The payment's or notification's stream. */
  readonly subject: string
  /** `null` for a notification. */
  readonly payment_id: string | null
  readonly times: CheckTimes<Date | null>
  readonly pauses: number
  readonly version: number
  readonly lease: string
  readonly correlation_id: string
  readonly event_id: string
}

/** When to look again; `over` when nothing is left to do. */
export type NextCheck = { readonly times: CheckTimes<Date | null>; readonly pauses: number } | 'over'

export type FollowUps = ReturnType<typeof createFollowUps>

type Row = Omit<FollowUp, 'times'> & {
  finish_at: Date | null
  ask_at: Date | null
  watch_at: Date | null
  expire_at: Date | null
}

/** @param leaseMs how long a lease lasts unless renewed, by the clock of the database */
export function createFollowUps(pool: Pool, { leaseMs }: { readonly leaseMs: number }) {
  return {
    checkpoint: () => readCheckpoint(pool, followUpsSubscription),

    record: (batch: Parameters<typeof recordPlans>[1]) => recordPlans(pool, batch),

    /**
     * Takes due and unleased follow-ups of a provider: urgent ones first, then the longest due.
     * @param withExpiries whether those are taken that are due only because a payment expires
     */
    async take(providerId: string, at: Date, limit: number, withExpiries = true): Promise<FollowUp[]> {
      const values = [providerId, at, limit, leaseMs, withExpiries]
      const { rows } = await pool.query<Row>({ name: 'take-follow-ups', text: takeSql, values })
      return rows.map(({ finish_at: finish, ask_at: ask, watch_at: watch, expire_at: expire, ...row }) => {
        return { ...row, times: { finish, ask, watch, expire } }
      })
    },

    /** Renews the leases of follow-ups in progress. */
    async renew(held: readonly FollowUp[]): Promise<void> {
      const values = [held.map(({ subject }) => subject), held.map(({ lease }) => lease), leaseMs]
      await pool.query({ name: 'renew-follow-ups', text: renewSql, values })
    },

    /**
     * Returns a follow-up with its next times. If an event arrived meanwhile, the event's times stay. If the lease expired and
     * another worker took the follow-up, nothing changes.
     */
    async giveBack({ subject, lease, version }: FollowUp, next: NextCheck): Promise<void> {
      const held = [subject, lease, version]
      if (next === 'over') {
        const ended = await pool.query({ name: 'end-follow-up', text: endSql, values: held })
        if (ended.rowCount === 0) await pool.query({ name: 'release-follow-up', text: releaseSql, values: held })
        return
      }
      const { times, pauses } = next
      const values = [...held, times.finish, times.ask, times.watch, pauses, times.expire]
      await pool.query({ name: 'return-follow-up', text: returnSql, values })
    },

    /** Counts the follow-ups of all other providers. No worker handles them. */
    async waiting(providerIds: readonly string[]): Promise<{ provider_id: string; follow_ups: number }[]> {
      const { rows } = await pool.query<{ provider_id: string; follow_ups: number }>(
        `select provider_id, count(*)::int as follow_ups from webhooks.follow_ups
         where provider_id <> all($1) group by 1 order by 1`,
        [providerIds],
      )
      return rows
    },
  }
}

/** `any(array(…))` makes the planner expect few rows; otherwise it reads the whole table. */
const takeSql = `
with soon as (
  select subject from webhooks.follow_ups
  where provider_id = $1 and soon_at <= $2 and ($5 or finish_at <= $2 or ask_at <= $2)
    and (leased_until is null or leased_until <= now())
  order by soon_at
  limit $3
  for update skip locked
), watched as (
  select subject from webhooks.follow_ups
  where provider_id = $1 and watch_at <= $2 and (leased_until is null or leased_until <= now())
  order by watch_at
  limit $3 - (select count(*) from soon)
  for update skip locked
)
update webhooks.follow_ups f
set lease = gen_random_uuid(), leased_until = now() + $4 * interval '1 ms'
where subject = any(array(select subject from soon union select subject from watched))
returning subject, payment_id, finish_at, ask_at, watch_at, expire_at, pauses, version, lease, correlation_id, event_id`

const renewSql = `
update webhooks.follow_ups set leased_until = now() + $3 * interval '1 ms'
where subject = any($1) and lease = any($2::uuid[])`

const endSql = 'delete from webhooks.follow_ups where subject = $1 and lease = $2 and version = $3'

const releaseSql = `
update webhooks.follow_ups set lease = null, leased_until = null
where subject = $1 and lease = $2 and version <> $3`

const returnSql = `
update webhooks.follow_ups
set lease = null, leased_until = null,
    finish_at = case when version = $3 then $4::timestamptz else finish_at end,
    ask_at = case when version = $3 then $5::timestamptz else ask_at end,
    watch_at = case when version = $3 then $6::timestamptz else watch_at end,
    pauses = case when version = $3 then $7::integer else pauses end,
    expire_at = case when version = $3 then $8::timestamptz else expire_at end
where subject = $1 and lease = $2`

/**
 * How events change the list of the client secrets of payments that have not ended: as long as there is one of a day, retention
 * keeps the key of this day. No payment is in both.
 */
type SecretChanges = {
  readonly opened: readonly { readonly subject: string; readonly key_id: string }[]
  /** The streams of payments that have ended. */
  readonly ended: readonly string[]
}

/** @param events in log order */
export function secretChangesOf(events: readonly Recorded[]): SecretChanges {
  const opened = new Map<string, Set<string>>()
  const ended = new Set<string>()
  for (const { type, stream, sealed } of events) {
    if (type === 'PaymentSucceeded' || type === 'PaymentCanceled') {
      ended.add(stream)
      opened.delete(stream)
    }
    // The key of the day is the last one: the first one is the subject's.
    const dayKey = sealed.secret?.at(-1)
    // A setup intent is not followed: its secret is kept for two days.
    if (type !== 'ProviderIntentCreated' || dayKey === undefined || ended.has(stream)) continue
    opened.set(stream, (opened.get(stream) ?? new Set()).add(dayKey))
  }
  return {
    opened: [...opened].flatMap(([subject, keys]) => [...keys].map((key_id) => ({ subject, key_id }))),
    ended: [...ended],
  }
}

/** An event and its plan. */
export type PlannedEvent = { readonly event: Recorded; readonly plan: ReconcilePlan }

/**
 * Updates the follow-ups of every payment and notification in a batch and the open secrets, and moves the checkpoint, in one
 * statement and so in one transaction. Follow-ups without times are removed.
 * @param planned in log order; if two events set the same time, the later one wins
 * @throws StaleCheckpointError, with nothing changed, when the checkpoint is not at `from`
 */
export async function recordPlans(
  pool: Pool,
  batch: CheckpointMove & { readonly planned: readonly PlannedEvent[]; readonly secrets: SecretChanges },
): Promise<void> {
  const bySubject = Map.groupBy(batch.planned, ({ event }) => toPostgresText(event.stream))
  const { secrets } = batch
  const rows = [...bySubject].map(([subject, planned]) => ({ subject, ...rowOf(planned) }))
  const { rows: results } = await pool.query<{ moved: number }>({
    name: 'record-follow-ups',
    text: recordPlansSql,
    values: [...moveParameters(batch), JSON.stringify(rows), JSON.stringify(secrets.opened), secrets.ended],
  })
  if (results[0]?.moved !== 1) throw new StaleCheckpointError(batch.name)
}

/** Merges all events of a subject into one change. */
function rowOf(planned: readonly PlannedEvent[]) {
  const [first] = planned
  const last = planned.at(-1)
  if (!first || !last) throw new Error('A change without events')
  const latest = (time: keyof ReconcilePlan) => planned.findLast(({ plan }) => plan[time] !== undefined)?.plan[time]
  const { data, id, type } = last.event
  if (!('provider_id' in data)) throw new Error(`${type} has no provider_id`)
  const [finish, ask, watch, expire] = [latest('finish'), latest('ask'), latest('watch'), latest('expire')]
  return {
    provider_id: data.provider_id,
    payment_id: 'payment_id' in data ? data.payment_id : null,
    sets_finish: finish !== undefined,
    finish_at: finish ?? null,
    sets_ask: ask !== undefined,
    ask_at: ask ?? null,
    sets_watch: watch !== undefined,
    watch_at: watch ?? null,
    sets_expire: expire !== undefined,
    expire_at: expire ?? null,
    pauses: ask ? 0 : 1,
    correlation_id: toPostgresText(first.event.metadata.correlationId),
    event_id: id,
  }
}

/** How many times a follow-up has after a plan. */
const timesAfter = `num_nonnulls(p.finish_at, p.ask_at, p.watch_at, p.expire_at,
    case when not p.sets_finish then f.finish_at end, case when not p.sets_ask then f.ask_at end,
    case when not p.sets_watch then f.watch_at end, case when not p.sets_expire then f.expire_at end)`

/** The update locks rows before reading them, so it does not undo the result of a follow-up that has just ended. */
const recordPlansSql = `
with moved as (${moveCheckpointSql}
), planned as (
  select p.*
  from moved, json_to_recordset($8::json) as p (subject text, provider_id text, payment_id text,
    sets_finish boolean, finish_at timestamptz, sets_ask boolean, ask_at timestamptz,
    sets_watch boolean, watch_at timestamptz, sets_expire boolean, expire_at timestamptz, pauses integer, correlation_id text, event_id uuid)
), updated as (
  update webhooks.follow_ups f
  set finish_at = case when p.sets_finish then p.finish_at else f.finish_at end,
      ask_at = case when p.sets_ask then p.ask_at else f.ask_at end,
      watch_at = case when p.sets_watch then p.watch_at else f.watch_at end,
      expire_at = case when p.sets_expire then p.expire_at else f.expire_at end,
      pauses = p.pauses, version = f.version + 1, event_id = p.event_id
  from planned p
  where f.subject = p.subject and ${timesAfter} > 0
  returning f.subject
), inserted as (
  insert into webhooks.follow_ups (subject, provider_id, payment_id, finish_at, ask_at, watch_at, expire_at,
    pauses, correlation_id, event_id)
  select subject, provider_id, payment_id, finish_at, ask_at, watch_at, expire_at, pauses, correlation_id, event_id
  from planned
  where num_nonnulls(finish_at, ask_at, watch_at, expire_at) > 0 and subject not in (select subject from updated)
), ended as (
  delete from webhooks.follow_ups f using planned p where f.subject = p.subject and ${timesAfter} = 0
), opened_secrets as (
  insert into webhooks.open_secrets (subject, key_id)
  select s.subject, s.key_id from moved, json_to_recordset($9::json) as s (subject text, key_id uuid)
  on conflict do nothing
), ended_secrets as (
  delete from webhooks.open_secrets s using moved where s.subject = any($10::text[])
)
select (select count(*)::int from moved) as moved`
