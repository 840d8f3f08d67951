// The worker's list of what to look after, as those see it who work it off.

import { readCheckpoint } from '@paylog/deliveries/subscriptions/checkpoint'
import type { Pool } from 'pg'
import type { CheckTimes } from './plan.ts'
import { recordPlans } from './recordPlans.ts'

/** One entry of the list, leased to whoever took it. */
export type ReconcileTask = {
  /** The stream of the payment or of the notification. */
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

/** When to look again; `over` when there is nothing left to look at. */
export type NextCheck = { readonly times: CheckTimes<Date | null>; readonly pauses: number } | 'over'

export type ReconcileTasks = ReturnType<typeof createReconcileTasks>

type Row = Omit<ReconcileTask, 'times'> & { finish_at: Date | null; ask_at: Date | null; watch_at: Date | null }

/** @param leaseMs how long an entry stays with who took it, unless it is renewed; by the clock of the database */
export function createReconcileTasks(pool: Pool, { leaseMs }: { readonly leaseMs: number }) {
  return {
    checkpoint: (name: string) => readCheckpoint(pool, name),

    record: (batch: Parameters<typeof recordPlans>[1]) => recordPlans(pool, batch),

    /** Takes what is due for a provider and in nobody's hands: what cannot wait first, then the longest due. */
    async take(providerId: string, at: Date, limit: number): Promise<ReconcileTask[]> {
      const values = [providerId, at, limit, leaseMs]
      const { rows } = await pool.query<Row>({ name: 'take-follow-ups', text: takeSql, values })
      return rows.map(({ finish_at, ask_at, watch_at, ...row }) => {
        return { ...row, times: { finish: finish_at, ask: ask_at, watch: watch_at } }
      })
    },

    /** Holds on to entries that are still worked on. */
    async renew(held: readonly ReconcileTask[]): Promise<void> {
      const values = [held.map(({ subject }) => subject), held.map(({ lease }) => lease), leaseMs]
      await pool.query({ name: 'renew-follow-ups', text: renewSql, values })
    },

    /**
     * Gives an entry back with what is to come. When an event came meanwhile its times stand, and when the lease ran out
     * and another took the entry, that one decides.
     */
    async giveBack({ subject, lease, version }: ReconcileTask, next: NextCheck): Promise<void> {
      const held = [subject, lease, version]
      if (next === 'over') {
        const ended = await pool.query({ name: 'end-follow-up', text: endSql, values: held })
        if (ended.rowCount === 0) await pool.query({ name: 'release-follow-up', text: releaseSql, values: held })
        return
      }
      const { times, pauses } = next
      const values = [...held, times.finish, times.ask, times.watch, pauses]
      await pool.query({ name: 'return-follow-up', text: returnSql, values })
    },

    /** How many entries wait for providers that are not among these, so that nobody works on them. */
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

/** The array tells the planner that they are few, whatever it expects of the limits; else it reads the whole table. */
const takeSql = `
with soon as (
  select subject from webhooks.follow_ups
  where provider_id = $1 and soon_at <= $2 and (leased_until is null or leased_until <= now())
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
returning subject, payment_id, finish_at, ask_at, watch_at, pauses, version, lease, correlation_id, event_id`

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
    pauses = case when version = $3 then $7::integer else pauses end
where subject = $1 and lease = $2`
