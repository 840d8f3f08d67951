import { randomUUID } from 'node:crypto'
import { ConfigError } from '@paylog/config/environment'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { migrateWebhooks } from '../migrate.ts'
import { batchOf, createWorkerHarness } from '../testing/workerHarness.ts'
import { assertConnections, installationId, maxPostgresEndpoints, openQueueStore } from './queueStore.ts'

const enabled = (count: number, url: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => index + 1).flatMap((n) => [
      [`WEBHOOK_${n}_ENABLED`, 'true'],
      [`WEBHOOK_${n}_URL`, url],
    ]),
  )

t.test('each endpoint uses one Postgres connection for its queue worker', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const nodes = 10
  const harness = await createWorkerHarness(t, 'postgres', enabled(nodes, endpoint.url))
  await harness.dispatcher.start()
  await harness.work()
  let most = 0
  await harness.dispatcher.handle(batchOf(50))
  await waitFor(
    async () => {
      const { rows } = await harness.pool.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and (application_name = 'worker queues' or application_name like '%:w:%')`,
      )
      most = Math.max(most, rows[0]?.count ?? 0)
      return endpoint.received.length === nodes * 50
    },
    { what: 'all deliveries', timeoutMs: 30_000 },
  )
  t.ok(most >= nodes, 'connections were counted')
  // The harness opens the store twice: for its own queues and for its workers.
  t.ok(most <= nodes + 2 * 6, `${most} connections`)
})

t.test(
  'more endpoints than the queues have Postgres connections for are one ConfigError that names the remedy',
  async (t) => {
    t.doesNotThrow(() => assertConnections({ nodes: maxPostgresEndpoints, redisUrl: undefined }))
    t.doesNotThrow(() => assertConnections({ nodes: 100, redisUrl: 'redis://127.0.0.1' }))
    try {
      assertConnections({ nodes: maxPostgresEndpoints + 1, redisUrl: undefined })
      t.fail('was accepted')
    } catch (error) {
      t.ok(error instanceof ConfigError)
      t.match(error, { message: /REDIS_URL is required for more than 25 .*fewer endpoints/ })
      t.notMatch(error, { message: /\n/ })
    }
  },
)

t.test('the installation id is stored in the database and unique per database', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  const id = await installationId(harness.pool)
  t.match(id, /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  await migrateWebhooks(harness.pool)
  t.equal(await installationId(harness.pool), id, 'another migration keeps it')
  await t.rejects(
    harness.pool.query('insert into webhooks.installation default values'),
    { code: '23505' },
    'a second row is rejected',
  )
  const other = await createWorkerHarness(t, 'postgres', {})
  t.not(await installationId(other.pool), id)
})

t.test('Redis keys contain the installation id, and do not depend on the database address', async (t) => {
  const log = createLog({ app: 'test', level: 'silent' })
  const installation = randomUUID()
  const open = (host: string) =>
    openQueueStore({
      databaseUrl: `postgresql://${host}/paylog`,
      redisUrl: 'redis://127.0.0.1:1',
      installation,
      workers: 1,
      log,
    })
  const [first, second] = [await open('database.example:5432'), await open('10.0.0.1:6543')]
  t.strictSame(first.store, { kind: 'redis', url: 'redis://127.0.0.1:1', prefix: `paylog-${installation}` })
  t.strictSame(second.store, first.store, 'both addresses lead to the same keys')
})
