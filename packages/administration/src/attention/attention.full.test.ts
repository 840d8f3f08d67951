// What attention costs with many payments, in its worst case: each provider is silent, and much is wrong.
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { plansOf } from '@paylog/testing/recordingPool'
import { testPool } from '@paylog/testing/testPool'
import t from 'tap'
import { attentionHarness, endpoints, providers } from '../testing/attentionHarness.ts'
import { createAttention } from './attention.ts'

const payments = 100_000
const withAttention = 2_000
const failed = 20_000
const log = createLog({ app: 'test', level: 'silent' })
const hour = 3_600

const pool = testPool(t, (await createMigratedDatabase(t)).databaseUrl)
const { pay, decide, project, endpoint, deliver } = attentionHarness(pool)
const [plain, wrong] = [pay(hour), pay(hour)]
const report = { occurred_at: new Date().toISOString(), provider_time: new Date().toISOString() }
const nothing = { provider_event_id: null, provider_intent_id: null, provider_payment_id: 'ch_1' }
const money = { amount_cents: 999, currency: 'EUR', capturable_cents: 0 }
decide(wrong, (state) => recordStatus({ ...report, ...nothing, ...money, status: 'succeeded' }, state))
await project()
await endpoint('1')
await deliver({ node: '1', failedAgo: hour })

/** Copies a row many times, with ids of their own, spread over the last day or longer. */
async function copy(table: string, id: string, times: number, spread: readonly string[]): Promise<void> {
  const { rows } = await pool.query<{ names: string }>(
    `select string_agg(format('%I', attname), ', ' order by attnum) as names from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and attname <> all($2)`,
    [table, ['id', ...spread]],
  )
  const moved = spread.map((name) => `${name} - n * interval '1 second'`).join(', ')
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(
      `insert into ${table} (id, ${rows[0]?.names}, ${spread.join(', ')})
       select gen_random_uuid(), ${rows[0]?.names}, ${moved} from ${table}, generate_series(1, $2::integer) as n where id = $1`,
      [id, times],
    )
    await client.query(`vacuum analyze ${table}`)
  } finally {
    client.release(true)
  }
}

t.test('attention takes at most 50 ms with 100,000 payments', async (t) => {
  await copy('read_models.payments_v1', plain, payments, ['created_at'])
  await copy('read_models.payments_v1', wrong, withAttention, ['created_at'])
  const { rows } = await pool.query<{ id: string }>('select id from webhooks.finished_deliveries')
  await pool.query("select webhooks.create_partitions((now() - interval '1 day')::date, now()::date)")
  await copy('webhooks.finished_deliveries', rows[0]?.id ?? '', failed, ['created_at', 'ended_at'])
  await pool.query(`insert into providers.activity (provider_id, watched_since)
    values ('stripe', now() - interval '2 days'), ('sandbox', now() - interval '2 days')`)
  const context = { endpoints, providers, now: () => new Date(), log, timing: { maxAgeMs: 0, timeoutMs: 2_000 } }
  const attention = createAttention({ ...context, db: pool })
  const { items } = await attention.read()
  t.match(
    items.map(({ code, count }) => [code, count]),
    [
      ['provider_silent', 10_000],
      ['amount_mismatch', withAttention + 1],
      ['endpoint_failing', 10_000],
    ],
  )
  const plans = await plansOf(pool, async (db) => void (await createAttention({ ...context, db }).read()))
  const spent = plans.map((plan) => Number(/Execution Time: ([\d.]+)/.exec(plan)?.[1]))
  const total = spent.reduce((sum, ms) => sum + ms, 0)
  t.comment(`${total.toFixed(1)} ms in Postgres: ${spent.map((ms) => ms.toFixed(1)).join(', ')}`)
  for (const plan of plans) t.notMatch(plan, /Seq Scan on (payments|finished_deliveries)/)
  const took: number[] = []
  for (const _ of Array(20)) {
    const startedAt = performance.now()
    await attention.read()
    took.push(performance.now() - startedAt)
  }
  // The shortest: other tests use the machine, too.
  const shortest = Math.min(...took)
  t.comment(`${shortest.toFixed(1)} ms`)
  t.ok(shortest <= 50, `${shortest} ms`)
})
