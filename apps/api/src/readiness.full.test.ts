// biome-ignore-all lint/style/noProcessEnv: the test runner passes the URLs of the servers as variables.
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type App, type Replica, startReplica, startReplicaBackends } from './testing/replicas.ts'

/** The readiness check waits two seconds for a dependency. The rest allows for a busy machine. */
const maxResponseMs = 2_000 + 2_000
const redisUrl = process.env.REDIS_TEST_URL

/** A server behind a proxy that can freeze and reject connections without affecting other tests. */
async function behindProxy(url: string) {
  const server = new URL(url)
  const proxy = await startTcpProxy(t, Number(server.port))
  server.port = String(proxy.port)
  return { proxy, url: server.href.replace(/\/$/, '') }
}

const backends = await startReplicaBackends(t)
const { environment, log } = backends
const postgres = await behindProxy(environment.DATABASE_URL)
const identity = await behindProxy(environment.AUTH_URL)
const redis = redisUrl === undefined ? undefined : await behindProxy(new URL('/3', redisUrl).href)
const env = {
  DATABASE_URL: postgres.url,
  AUTH_URL: identity.url,
  ...(redis && { REDIS_URL: redis.url }),
  ...{ WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'http://127.0.0.1:9/hook' },
}
const apps = await Promise.all(
  (['command-api', 'query-api', 'projector', 'worker'] as const).map((app) => startReplica(t, backends, app, env)),
)

type Page = { readonly status: string; readonly checks: Readonly<Record<string, { readonly ok: boolean }>> }

async function readinessPage({ baseUrl }: Replica) {
  const before = performance.now()
  const response = await fetch(`${baseUrl}/health/ready`)
  const text = await response.text()
  const { checks } = JSON.parse(text) as Page
  const failing = Object.entries(checks).flatMap(([name, { ok }]) => (ok ? [] : [name]))
  return { status: response.status, failing, text, ms: performance.now() - before }
}

const becomes = (replica: Replica, status: number, failing: readonly string[] = []) =>
  waitFor(
    async () => {
      const page = await readinessPage(replica)
      return page.status === status && failing.every((name) => page.failing.includes(name)) && page
    },
    { what: `${replica.app} to be ${status} for ${failing}`, timeoutMs: 40_000 },
  )

type Fault = {
  readonly name: string
  readonly begin: () => Promise<void> | void
  readonly end: () => Promise<void> | void
  /** At least these checks fail. An app without an entry stays ready. */
  readonly fails: Partial<Record<App, readonly string[]>>
}

const withoutLog = { 'command-api': ['event_store'], projector: ['event store'], worker: ['log', 'follow_ups'] }
const withoutPostgres = {
  'command-api': ['postgres'],
  'query-api': ['postgres', 'projection payments'],
  projector: ['postgres', 'projection payments'],
  worker: ['postgres', 'deliveries'],
}
const proxied = (what: string, { proxy }: { proxy: typeof postgres.proxy }, fails: Fault['fails']): Fault[] => [
  { name: `${what} is frozen`, begin: proxy.dropResponses, end: proxy.heal, fails },
  { name: `${what} is gone`, begin: proxy.refuse, end: proxy.accept, fails },
]

const faults: readonly Fault[] = [
  {
    name: 'the event store is frozen',
    begin: () => void process.kill(log.process().pid, 'SIGSTOP'),
    end: () => void process.kill(log.process().pid, 'SIGCONT'),
    fails: withoutLog,
  },
  { name: 'the event store is gone', begin: log.kill, end: log.start, fails: withoutLog },
  ...proxied('Postgres', postgres, withoutPostgres),
  // Without Redis the APIs do not count requests. The worker keeps its queue in Redis.
  ...(redis ? proxied('Redis', redis, { worker: ['queue'] }) : []),
  // Guests and provider notifications are still served, and another replica would be in the same state.
  ...proxied('the identity backend', identity, {}),
]

for (const { name, begin, end, fails } of faults)
  t.test(`apps that need it are not ready while ${name}, and recover`, async (t) => {
    for (const app of apps) await becomes(app, 200)
    await begin()
    try {
      await Promise.all(
        apps.map(async (replica) => {
          const failing = fails[replica.app]
          const page = failing ? await becomes(replica, 503, failing) : await readinessPage(replica)
          t.equal(page.status, failing ? 503 : 200, `${replica.app}: ${page.failing}`)
          t.ok(page.ms < maxResponseMs, `${replica.app} responds after ${Math.round(page.ms)} ms`)
          t.notMatch(
            page.text,
            /127\.0\.0\.1|ECONN|timeout|"error|"message|postgres(ql)?:/i,
            'the page shows neither reasons nor addresses',
          )
          t.equal((await fetch(`${replica.baseUrl}/health/live`)).status, 200, `${replica.app} is live`)
        }),
      )
    } finally {
      await end()
    }
    for (const app of apps) await becomes(app, 200)
  })
