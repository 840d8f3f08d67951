import { randomUUID } from 'node:crypto'
import { createLog } from '@paylog/runtime/telemetry/log'
import { matchList } from '@paylog/testing/assertions'
import { createWorkerHarness, type WorkerHarness } from '@paylog/webhooks/testing/workerHarness'
import t from 'tap'
import { startHeartbeat } from './heartbeat.ts'

const log = createLog({ app: 'test', level: 'silent' })
const [first, second] = [randomUUID(), randomUUID()]

async function workers({ pool }: WorkerHarness): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('select id from webhooks.workers order by started_at')
  return rows.map(({ id }) => id)
}

async function endpoints({ pool }: WorkerHarness) {
  const { rows } = await pool.query(
    'select name, is_configured, disabled_at is not null as is_disabled from webhooks.nodes order by name',
  )
  return rows
}

t.test('a worker is listed while it runs and removed when it stops', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  const activity = async () => (await harness.pool.query('select * from webhooks.worker_activity')).rows[0]
  t.strictSame(await activity(), { running: 0, last_seen_seconds: null })
  const heartbeat = await startHeartbeat({ pool: harness.pool, worker: first, endpoints: [], log })
  t.match(await activity(), { running: 1 })
  await harness.pool.query(`update webhooks.workers set seen_at = now() - interval '40 seconds'`)
  const { running, last_seen_seconds: age } = await activity()
  t.equal(running, 0, 'a worker without a heartbeat does not count')
  t.ok(age >= 40 && age < 45)
  const stop = new AbortController()
  const beating = heartbeat.run(stop.signal)
  stop.abort()
  await beating
  t.strictSame(await workers(harness), [])
})

t.test('a killed worker is removed by another worker after five minutes', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await startHeartbeat({ pool: harness.pool, worker: first, endpoints: [], log })
  await startHeartbeat({ pool: harness.pool, worker: second, endpoints: [], log })
  t.strictSame(await workers(harness), [first, second])
  await harness.pool.query(`update webhooks.workers set seen_at = now() - interval '301 seconds'`)
  await startHeartbeat({ pool: harness.pool, worker: second, endpoints: [], log })
  t.strictSame(await workers(harness), [second])
})

t.test('the configured endpoints are those of the last started worker', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await startHeartbeat({ pool: harness.pool, worker: first, endpoints: ['1', '2'], log })
  await harness.pool.query(`update webhooks.nodes set disabled_at = now() where name = '2'`)
  await startHeartbeat({ pool: harness.pool, worker: second, endpoints: ['2', 'legacy-1'], log })
  matchList(t, await endpoints(harness), [
    { name: '1', is_configured: false, is_disabled: false },
    { name: '2', is_configured: true, is_disabled: true },
    { name: 'legacy-1', is_configured: true, is_disabled: false },
  ])
  await startHeartbeat({ pool: harness.pool, worker: first, endpoints: ['1'], log })
  matchList(t, await endpoints(harness), [
    { name: '1', is_configured: true, is_disabled: false },
    { name: '2', is_configured: false, is_disabled: true },
    { name: 'legacy-1', is_configured: false, is_disabled: false },
  ])
  await startHeartbeat({ pool: harness.pool, worker: second, endpoints: [], log })
  t.notOk(
    (await endpoints(harness)).some(({ is_configured }) => is_configured),
    'a worker without endpoints has none',
  )
})
