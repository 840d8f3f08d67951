import { randomUUID } from 'node:crypto'
import { createLog } from '@paylog/runtime/telemetry/log'
import t from 'tap'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import { migrateWebhooks } from '../migrate.ts'
import { installationId, openQueueStore } from './queueStore.ts'

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
      log,
    })
  const [first, second] = [await open('database.example:5432'), await open('10.0.0.1:6543')]
  t.strictSame(first.store, { kind: 'redis', url: 'redis://127.0.0.1:1', prefix: `paylog-${installation}` })
  t.strictSame(second.store, first.store, 'both addresses lead to the same keys')
})
