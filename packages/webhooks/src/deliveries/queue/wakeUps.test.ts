import { setTimeout } from 'node:timers/promises'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t from 'tap'
import { createWorkerHarness, onQueue, queueKinds } from '../../testing/workerHarness.ts'
import { installationId, openQueueStore } from './queueStore.ts'
import { openWakeUps, takeWakeUps } from './wakeUps.ts'

const log = createLog({ app: 'test', level: 'silent' })
const sentinel = 'last'

for (const kind of queueKinds) {
  t.test(`wake-ups on ${kind}`, onQueue(kind), async (t) => {
    const { store, wakeUps } = await createWorkerHarness(t, kind, {})
    const woken: { readonly endpoint: string; readonly at: number }[] = []
    const times = (endpoint: string) => woken.filter((wakeUp) => wakeUp.endpoint === endpoint).map(({ at }) => at)
    const taking = takeWakeUps({ store, wake: (endpoint) => void woken.push({ endpoint, at: Date.now() }), log })
    t.teardown(() => taking.close())

    await t.test(`a wake-up arrives, and those of an endpoint at one time share a job, on ${kind}`, async (t) => {
      for (let count = 0; count < 50; count++) wakeUps.wake('1')
      wakeUps.wake('2')
      await waitFor(() => times('1').length > 0 && times('2').length > 0, { what: 'the wake-ups' })
      t.ok(times('1').length <= 2, `${times('1').length} wake-ups`)
    })

    await t.test(`a scheduled wake-up arrives at its time, on ${kind}`, async (t) => {
      const at = Date.now() + 700
      wakeUps.schedule('3', new Date(at))
      wakeUps.schedule('3', new Date(at))
      wakeUps.schedule('4', new Date(at + 3_600_000))
      await waitFor(() => times('3').length > 0, { what: 'the wake-up' })
      const [first = 0] = times('3')
      t.ok(first >= at, 'not too early')
      wakeUps.wake(sentinel)
      await waitFor(() => times(sentinel).length > 0, { what: 'another wake-up' })
      t.equal(times('3').length, 1)
      t.equal(await wakeUps.waiting(), 0, 'a wake-up in an hour has no job')
    })
  })
}

t.test('a worker whose first connection to the Postgres queue timed out takes wake-ups once it responds', async (t) => {
  const { pool, databaseUrl, wakeUps } = await createWorkerHarness(t, 'postgres', {})
  const target = new URL(databaseUrl)
  const proxy = await startTcpProxy(t, Number(target.port))
  target.port = String(proxy.port)
  const warnings: string[] = []
  const log = createLog({ app: 'test', level: 'warn' }, { write: (line) => void warnings.push(line) })
  const installation = await installationId(pool)
  const { store, close } = await openQueueStore({ databaseUrl: target.href, redisUrl: undefined, installation, log })
  t.teardown(close)
  // Closes the connection of the migrations, so that the worker has to connect.
  await proxy.refuse()
  await proxy.accept()
  proxy.dropResponses()
  const woken: string[] = []
  const taking = takeWakeUps({ store, wake: (endpoint) => void woken.push(endpoint), log })
  t.teardown(() => taking.close())
  await waitFor(() => warnings.some((line) => line.includes('queue worker error')), { what: 'the time-out' })
  proxy.heal()
  wakeUps.wake('1')
  await waitFor(() => woken.length > 0, { what: 'the wake-up' })
  t.same(woken, ['1'])
})

t.test('a Postgres that rejects connections is asked about once a second', async (t) => {
  const { pool, databaseUrl } = await createWorkerHarness(t, 'postgres', {})
  const database = new URL(databaseUrl).pathname.slice(1)
  const admin = new pg.Pool({ connectionString: new URL('/postgres', databaseUrl).href, max: 1 })
  t.teardown(() => admin.end())
  const rejections: string[] = []
  const log = createLog({ app: 'test', level: 'warn' }, { write: (line) => void rejections.push(line) })
  const installation = await installationId(pool)
  const { store, close } = await openQueueStore({ databaseUrl, redisUrl: undefined, installation, log })
  t.teardown(close)
  const allow = (isAllowed: boolean) => admin.query(`alter database ${database} with allow_connections ${isAllowed}`)
  await allow(false)
  t.teardown(() => allow(true))
  // Closes the connection of the migrations, so that the worker has to connect.
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
  const taking = takeWakeUps({ store, wake: () => undefined, log })
  t.teardown(() => taking.close())
  const startedAt = performance.now()
  const count = () => rejections.filter((line) => line.includes('not currently accepting connections')).length
  await waitFor(() => count() >= 5, { what: 'five rejections' })
  t.ok(performance.now() - startedAt > 1_500, 'they do not come at once')
})

t.test('a login that Redis refuses is one line, however many connections there are', withRedis, async (t) => {
  const { port } = await startRedisServer(t, { isDurable: false })
  const lines: string[] = []
  const log = createLog({ app: 'test', level: 'warn' }, { write: (line) => void lines.push(line) })
  const store = { kind: 'redis', url: `redis://nobody:wrong@127.0.0.1:${port}`, prefix: 'test' } as const
  for (const endpoint of ['1', '2']) {
    const wakeUps = openWakeUps({ store, log })
    t.teardown(() => wakeUps.close())
    wakeUps.wake(endpoint)
  }
  await setTimeout(1_500)
  t.match(lines, [/"reason":"WRONGPASS [^:]*","msg":"Redis refuses the login in REDIS_URL: /])
  t.equal(lines.length, 1)
})
