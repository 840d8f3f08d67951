// Query plans of the webhook log: every filter uses an index, also for rare and old entries.
import { randomUUID } from 'node:crypto'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { plansOf } from '@paylog/testing/recordingPool'
import type { Pool } from 'pg'
import t from 'tap'
import { webhookLogHarness } from '../testing/webhookLogHarness.ts'
import { getWebhookLog, listWebhookLogs, type WebhookLogsQuery } from './queries.ts'

const rows = 60_000
const days = 90

/**
 * A provider and an event used only at the beginning, a rare one, a user with many entries, and failures, spread over the
 * partitions of 90 days; and as many deliveries that wait for a retry.
 */
const fill = `
  with entries as (
    select gen_random_uuid() as id, '1' as node, case when n % 3 > 0 then 'payment.succeeded' when n < ${rows / 5} then 'old.event'
        when n % 999 = 0 then 'rare.event' else 'event.' || n % 40 end as event, 'canonical' as mode,
      case when n < ${rows / 10} and n % 7 = 0 then 'old' when n % 5 = 0 then 'paypal' else 'stripe' end as provider,
      '{}' as body, 'payment-1' as source_stream, 1 as source_revision, gen_random_uuid() as source_event_id,
      '' as correlation_id, '' as causation_id,
      case when n % 4 = 0 then 'busy' when n % 4 = 1 then 'user-' || n end as user_id, false as is_test, 1 as attempts,
      '[[0, 1, 200, null, "ok"]]'::jsonb as attempts_made, case when n % 11 < 5 then 'timeout' end as last_error,
      now() - make_interval(secs => (${rows} - n) * ${(days * 86_400) / rows}) as created_at
    from generate_series(1, ${rows}) as n
  ), retried as (
    insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
      correlation_id, causation_id, user_id, is_test, attempts, attempts_made, last_error, created_at, next_attempt_at)
    select *, now() from entries where last_error is not null
  )
  insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, user_id, is_test, attempts, attempts_made, last_error, created_at,
    last_attempt_at, ended_at)
  select gen_random_uuid(), node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, user_id, is_test, attempts, attempts_made, last_error, created_at,
    created_at, created_at from entries`

const all: WebhookLogsQuery = { user_id: undefined, limit: 100, offset: 0 }

/** The plans of a call, with the times that they took. */
async function timedPlans(pool: Pool, run: (db: Queryable) => Promise<unknown>) {
  return (await plansOf(pool, run)).map((text) => {
    const msOf = (what: string) => Number(new RegExp(`${what} Time: ([\\d.]+) ms`).exec(text)?.[1])
    return { text, planningMs: msOf('Planning'), executionMs: msOf('Execution') }
  })
}

const { pool } = await webhookLogHarness(t)
await pool.query(`select webhooks.create_partitions(current_date - ${days + 1}, current_date + 1)`)
await pool.query(fill)
await pool.query('vacuum analyze webhooks.deliveries, webhooks.finished_deliveries')

t.test('no log query reads the whole log, or more than one user’s entries', async (t) => {
  for (const status of [undefined, 'success', 'failed'] as const)
    for (const user_id of [undefined, 'busy', 'nobody'])
      for (const provider of [undefined, 'stripe', 'old', 'unknown'])
        for (const event of [undefined, 'payment.succeeded', 'old.event', 'rare.event']) {
          const query = { ...all, status, user_id, provider, event }
          const name = JSON.stringify(query)
          for (const { text } of await timedPlans(pool, (db) => listWebhookLogs(db, query))) {
            // A partition of a few pages may be scanned.
            t.notMatch(text, /Seq Scan on (finished_)?deliveries.*cost=\S+\.\.\d{2,}\./, name)
            const dropped = [...text.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, count]) => Number(count))
            t.ok(Math.max(0, ...dropped) < rows / 4, `${name}: ${dropped}`)
          }
        }
  const [last] = (await timedPlans(pool, (db) => listWebhookLogs(db, { ...all, offset: rows - 10 }))).slice(-1)
  t.match(
    last?.text,
    /Index Only Scan Backward using \S+ on finished_deliveries/,
    'skipped entries are read from the index',
  )
  const [one] = await timedPlans(pool, (db) => getWebhookLog(db, { id: randomUUID(), user_id: 'busy' }))
  t.match(one?.text, /deliveries_pkey/)
})

t.test(
  'the first page of the log is planned for the newest of ninety partitions, and found within milliseconds',
  async (t) => {
    await timedPlans(pool, (db) => listWebhookLogs(db, all))
    const plans = await timedPlans(pool, (db) => listWebhookLogs(db, all))
    t.equal(plans.length, 1, 'one statement')
    const [{ text, planningMs, executionMs } = { text: '', planningMs: 0, executionMs: 0 }] = plans
    t.comment(`planned in ${planningMs} ms, executed in ${executionMs} ms`)
    t.ok(new Set(text.match(/ on finished_deliveries_\d+/g)).size <= 12, 'today, the days before, and those ahead')
    t.ok(planningMs + executionMs < 50)
    const [, rare] = await timedPlans(pool, (db) => listWebhookLogs(db, { ...all, event: 'old.event' }))
    t.comment(
      `a filter that only old entries match: planned in ${rare?.planningMs} ms, executed in ${rare?.executionMs} ms`,
    )
    const [one] = await timedPlans(pool, (db) => getWebhookLog(db, { id: randomUUID(), user_id: 'busy' }))
    t.comment(`one entry: planned in ${one?.planningMs} ms, executed in ${one?.executionMs} ms`)
  },
)
