// Query plans of the webhook log: every filter uses an index, also for rare and old entries.
import { randomUUID } from 'node:crypto'
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import { recordingPool } from '@paylog/projections/testing/projectionHarness'
import { getWebhookLog, listWebhookLogs, type WebhookLogsQuery } from '@paylog/projections/webhook-logs/queries'
import t from 'tap'
import { webhookLogHarness } from '../testing/webhookLogHarness.ts'

const rows = 60_000

/** A provider and an event used only at the beginning, a rare one, a user with many entries, and failures. */
const fill = `
  insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
    correlation_id, causation_id, user_id, status, attempts, requeue_at, last_error, created_at)
  select gen_random_uuid(), '1', case when n % 3 > 0 then 'payment.succeeded' when n < ${rows / 5} then 'old.event'
      when n % 999 = 0 then 'rare.event' else 'event.' || n % 40 end, 'canonical',
    case when n < ${rows / 10} and n % 7 = 0 then 'old' when n % 5 = 0 then 'paypal' else 'stripe' end, '{}', 'payment-1', 1,
    gen_random_uuid(), '', '', case when n % 4 = 0 then 'busy' when n % 4 = 1 then 'user-' || n end,
    case when n % 11 < 5 then 'failed' else 'succeeded' end, 1, now(), case when n % 11 < 5 then 'timeout' end,
    timestamptz '2026-01-01' + make_interval(secs => n / 20)
  from generate_series(1, ${rows}) as n`

const all: WebhookLogsQuery = {
  user_id: undefined,
  provider: undefined,
  event: undefined,
  status: 'any',
  limit: 100,
  offset: 0,
}

async function planOf(
  pool: Parameters<typeof recordingPool>[0],
  run: (db: Queryable) => Promise<unknown>,
): Promise<string> {
  const { db, queries } = recordingPool(pool)
  await run(db)
  const [query] = queries
  const explained = { text: `explain analyze ${query?.text}`, values: query?.values ?? [] }
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(explained)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

t.test('no log query reads the whole log, or more than one user’s entries', async (t) => {
  const { pool } = await webhookLogHarness(t)
  await pool.query(fill)
  await pool.query('vacuum analyze webhooks.deliveries')
  for (const status of ['any', 'success', 'failed'] as const)
    for (const user_id of [undefined, 'busy', 'user-1', 'nobody'])
      for (const provider of [undefined, 'stripe', 'old', 'unknown'])
        for (const event of [undefined, 'payment.succeeded', 'old.event', 'rare.event', 'unknown']) {
          const query = { ...all, status, user_id, provider, event }
          const plan = await planOf(pool, (db) => listWebhookLogs(db, query))
          const name = JSON.stringify(query)
          t.notMatch(plan, /Seq Scan on (deliveries|attempts)/, name)
          const dropped = [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].map(([, count]) => Number(count))
          t.ok(Math.max(0, ...dropped) < rows / 4, `${name}: ${dropped}`)
        }
  const both = await planOf(pool, (db) => listWebhookLogs(db, { ...all, provider: 'stripe', event: 'old.event' }))
  t.match(both, /Index Only Scan Backward using log_arrived_of_event/, 'the second filter uses the index')
  t.match(both, /Index Only Scan Backward using log_failed_of_event/)
  const last = await planOf(pool, (db) => listWebhookLogs(db, { ...all, offset: rows - 10 }))
  t.match(
    last,
    /Index Only Scan Backward using log_arrived on deliveries/,
    'skipped entries are read from the index only',
  )
  t.match(last, /Index Only Scan Backward using log_failed on deliveries/)
  const one = await planOf(pool, (db) => getWebhookLog(db, { id: randomUUID(), user_id: 'busy' }))
  t.match(one, /deliveries_pkey/)
})
