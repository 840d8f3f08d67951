// Stops of every app while its backends are down, or hang. Nothing is in flight, so nothing can be lost.
import { setTimeout as pause } from 'node:timers/promises'
import { startProcess } from '@paylog/testing/processes'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type App, startReplica, startReplicaBackends } from './testing/replicas.ts'

/** Longer than the tests wait. */
const settings = { STOP_TIMEOUT: '14s' }
const withinMs = 8_000

const { environment, log } = await startReplicaBackends(t)
const redis = 'skip' in withRedis ? undefined : await startRedisServer(t)
const backends = {
  postgres: ['DATABASE_URL', log.databaseUrl],
  log: ['EVENTSTORE_URL', log.connectionString],
  redis: ['REDIS_URL', redis?.url ?? ''],
  ownPostgres: ['DATABASE_URL', (await createTestDatabase(t)).databaseUrl],
} as const

async function start(t: Parameters<typeof startReplica>[0], app: App | 'embedded-event-store', env: object) {
  const all = { ...environment, ...settings, ...env }
  if (app === 'embedded-event-store') {
    const script = new URL(`../../${app}/src/main.ts`, import.meta.url)
    return await startProcess(t, { script, env: { ...all, PORT: '0' } })
  }
  const { baseUrl, process } = await startReplica(t, { environment: all }, app)
  const isReady = async () => (await fetch(`${baseUrl}/health/ready`)).ok
  await waitFor(isReady, { what: `a ready ${app}`, timeoutMs: 20_000 })
  return process()
}

const outages: readonly (readonly [
  App | 'embedded-event-store',
  'refuse' | 'hang',
  readonly (keyof typeof backends)[],
])[] = [
  ['worker', 'refuse', ['redis']],
  ['worker', 'hang', ['redis']],
  ['worker', 'hang', ['postgres', 'log', 'redis']],
  ['api', 'hang', ['postgres', 'log', 'redis']],
  ['projector', 'hang', ['postgres', 'log']],
  ['embedded-event-store', 'hang', ['ownPostgres']],
]

for (const [app, breaking, names] of outages)
  t.test(`${app} stops within seconds and exits 0 while ${names.join(', ')} ${breaking}`, withRedis, async (t) => {
    const proxies = await Promise.all(
      names.map(async (name) => {
        const [variable, url] = backends[name]
        const proxy = await startTcpProxy(t, Number(new URL(url).port))
        return { proxy, env: { [variable]: url.replace(/:\d+(?=[/?]|$)/, `:${proxy.port}`) } }
      }),
    )
    const stopping = await start(t, app, Object.assign({}, ...proxies.map(({ env }) => env)))
    await Promise.all(proxies.map(({ proxy }) => proxy[breaking]()))
    // Long enough for all loops to begin their next statement.
    await pause(1_500)
    const begin = performance.now()
    await stopping.stop()
    const tookMs = Math.round(performance.now() - begin)
    t.comment(`${app}, ${names.join(', ')} ${breaking}: ${tookMs} ms`)
    t.strictSame(await stopping.exited, { code: 0, signal: null }, stopping.output().slice(-3_000))
    t.ok(tookMs < withinMs, `${tookMs} ms`)
  })
