// Query plans of the operators' lists: every filter uses an index, also for rare and old deliveries.

import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { plansOf } from '@paylog/testing/recordingPool'
import t, { type Test } from 'tap'
import { type DeliveryListQuery, listDeliveries, listSettings } from './deliveryList.ts'
import { listEndpoints, recentActivity } from './endpointList.ts'
import { endpointStatistics } from './endpointStatistics.ts'

const rows = 60_000
const days = 90

/** Deliveries over 90 days: one of an endpoint that is hardly used, rare failures, tests and names; and a backlog. */
const fill = `
  with entries as (
    select gen_random_uuid() as id, case when n % 9999 = 0 then '3' when n % 3 = 0 then '2' else '1' end as node,
      case when n < ${rows / 5} then 'old.event' when n % 999 = 0 then 'rare.event' else 'payment.succeeded' end as event,
      'canonical' as mode, 'stripe' as provider, repeat('x', 500) as body, 'payment-' || n / 4 as source_stream,
      n % 4 as source_revision, gen_random_uuid() as source_event_id, '' as correlation_id, '' as causation_id,
      n % 4999 = 0 as is_test, 1 as attempts, '[[0, 12, 200, null, "ok"]]'::jsonb as attempts_made,
      case when n % 501 = 0 then 'timeout' end as last_error,
      now() - make_interval(secs => (${rows} - n) * ${(days * 86_400) / rows}) as created_at
    from generate_series(1, ${rows}) as n
  ), pending as (
    insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
      correlation_id, causation_id, is_test, attempts, attempts_made, last_error, created_at, next_attempt_at)
    select gen_random_uuid(), node, event, mode, provider, body, source_stream, source_revision, source_event_id,
      correlation_id, causation_id, is_test, attempts, attempts_made, last_error, created_at, now() from entries
      where source_revision = 0
  )
  insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
    source_event_id, correlation_id, causation_id, is_test, attempts, attempts_made, last_error, created_at, last_attempt_at,
    ended_at)
  select *, created_at, created_at from entries`

const { databaseUrl } = await createMigratedDatabase(t)
const log = createLog({ app: 'test', level: 'silent' })
const pool = createPool({ databaseUrl, applicationName: 'test', max: 2, settings: listSettings, log })
t.teardown(() => pool.end())
await pool.query(`select webhooks.create_partitions(current_date - ${days + 1}, current_date + 1)`)
await pool.query(fill)
await pool.query(`insert into webhooks.nodes (name, disabled_at) values ('1', null), ('2', now()), ('3', null)`)
await pool.query('vacuum analyze webhooks.deliveries, webhooks.finished_deliveries')

const longAgo = { createdAt: new Date(Date.now() - 60 * 86_400_000), id: 'ffffffff-ffff-4fff-8fff-ffffffffffff' }
const filters: readonly Omit<DeliveryListQuery, 'limit'>[] = [undefined, '1', '2', '3', 'unknown'].flatMap((endpoint) =>
  [undefined, 'pending', 'held', 'succeeded', 'failed'].flatMap((status) =>
    [
      {},
      { event: 'rare.event' },
      { event: 'old.event' },
      { isTest: true },
      { isTest: false },
      { streams: ['payment-9', 'payment-10'] },
      { createdAfter: new Date(Date.now() - 40 * 86_400_000), createdBefore: new Date(Date.now() - 30 * 86_400_000) },
    ].flatMap((more) =>
      [undefined, longAgo].map((after) => ({
        endpoint,
        status: status as DeliveryListQuery['status'],
        ...more,
        after,
      })),
    ),
  ),
)

/** No partition of more than a few pages is scanned, and no index of them from one end to the other. */
function assertIndexed(t: Test, plan: string, name: string): void {
  t.notMatch(plan, /Seq Scan on finished_deliveries.*cost=\S+\.\.\d{3,}\./, name)
  const lines = plan.split('\n')
  const dropped = lines.flatMap((line, at) => {
    const [, count] = /Rows Removed by Filter: (\d+)/.exec(line) ?? []
    // A backlog may be searched whole for a rare name.
    const isFinished = /on finished_deliveries/.test(lines.slice(0, at).findLast((each) => each.includes(' on ')) ?? '')
    return isFinished && count !== undefined ? [Number(count)] : []
  })
  t.ok(Math.max(0, ...dropped) < rows / 90 + 100, `${name}: ${dropped}`)
}

t.test('no list of deliveries reads a whole table or partition', async (t) => {
  for (const filter of filters)
    for (const plan of await plansOf(pool, (db) => listDeliveries(db, { ...filter, limit: 21 })))
      assertIndexed(t, plan, JSON.stringify(filter))
})

t.test('the first page of all deliveries is planned for the newest of ninety partitions', async (t) => {
  const plans = await plansOf(pool, (db) => listDeliveries(db, { limit: 21 }))
  t.equal(plans.length, 1)
  t.ok(new Set(plans[0]?.match(/ on finished_deliveries_\d+/g)).size <= 12)
})

t.test('the state and the recent figures of the endpoints read the newest deliveries only', async (t) => {
  const [plan = ''] = await plansOf(pool, (db) => recentActivity(db, new Date()))
  assertIndexed(t, plan, 'recent activity')
  t.match(plan, /using finished_deliveries_\d+_node_created_at_id/, 'by the index of the endpoint')
  for (const read of [() => listEndpoints(pool), () => recentActivity(pool, new Date())]) {
    await read()
    const startedAt = performance.now()
    const found = await read()
    t.comment(`${(performance.now() - startedAt).toFixed(1)} ms ${JSON.stringify(found)}`)
  }
})

t.test('the statistics of an endpoint read indexes only, of the partitions of their period', async (t) => {
  const to = new Date()
  for (const [interval, length] of [
    ['hour', 2 * 86_400_000],
    ['day', 30 * 86_400_000],
  ] as const) {
    const query = { endpoint: '1', from: new Date(to.getTime() - length), to, interval }
    const [plan = ''] = await plansOf(pool, (db) => endpointStatistics(db, query))
    assertIndexed(t, plan, interval)
    t.match(plan, /Index Only Scan using finished_deliveries_\d+_node_created_at_id/, interval)
    const partitions = new Set(plan.match(/ on finished_deliveries_\d+/g)).size
    // Those of the next days are empty.
    t.ok(partitions <= length / 86_400_000 + 12, `${partitions} partitions for ${interval}`)
    const startedAt = performance.now()
    const found = await endpointStatistics(pool, query)
    t.comment(`${(performance.now() - startedAt).toFixed(1)} ms for ${found.length} intervals`)
  }
})
