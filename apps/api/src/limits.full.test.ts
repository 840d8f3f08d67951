import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess } from '@paylog/testing/processes'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import t, { type Test } from 'tap'

const shop = 'https://shop.example.com'

/** Starts command-api and api on one Redis, so that they count together. */
async function startBoth(t: Test) {
  const [log, identity, redis] = await Promise.all([startEventStore(t), startFakeIdentity(t), startRedisServer(t)])
  const env = {
    PORT: '0',
    DATABASE_URL: log.databaseUrl,
    EVENTSTORE_URL: log.connectionString,
    AUTH_URL: identity.authUrl,
    REDIS_URL: redis.url,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: 'made-up',
    CORS_ORIGINS: shop,
    RATE_LIMIT_PER_MINUTE: '4',
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '4',
  }
  const start = (app: string) => startProcess(t, { script: new URL(`../../${app}/src/main.ts`, import.meta.url), env })
  const [api, commandApi] = await Promise.all([start('api'), start('command-api')])
  const store = connectEventStore(t, { connectionString: log.connectionString, keys: log.keys })
  return { urls: [String(api.detail.url), String(commandApi.detail.url)], store }
}

async function begin(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const body = JSON.stringify({ total_cents: 100, currency: 'EUR' })
  const response = await fetch(`${url}/payments/intents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  await response.bytes()
  return response
}

t.test('two processes share their rate limits, and rejected requests append no event', withRedis, async (t) => {
  const { urls, store } = await startBoth(t)
  const [first = '', second = ''] = urls
  const callers = [
    [{}, {}],
    [{ 'x-session-id': 'demo-session' }, { authorization: 'Bearer demo-session' }],
  ]
  for (const [one = {}, other = {}] of callers) {
    const found: (number | string | null)[][] = []
    for (let n = 0; n < 2; n++) {
      for (const response of [await begin(first, one), await begin(second, other)])
        found.push([response.status, response.headers.get('ratelimit-remaining')])
    }
    t.same(found, [
      [201, '3'],
      [201, '2'],
      [201, '1'],
      [201, '0'],
    ])
  }
  const head = await store.head()
  for (const url of urls) {
    for (const headers of callers.flat()) {
      const rejected = await begin(url, { ...headers, 'idempotency-key': 'later', origin: shop })
      t.equal(rejected.status, 429)
      t.ok(Number(rejected.headers.get('retry-after')) > 0)
      t.equal(rejected.headers.get('access-control-allow-origin'), shop)
      t.equal(rejected.headers.get('cache-control'), 'no-store')
    }
    const notification = { method: 'POST', body: '{}', headers: { 'sandbox-signature': 't=1,v1=00' } }
    for (let n = 0; n < 20; n++)
      t.equal((await fetch(`${url}/webhooks/sandbox`, notification)).status, 400, 'never 429')
    for (const path of ['/health/live', '/metrics']) t.equal((await fetch(`${url}${path}`)).status, 200, path)
  }
  t.same(await store.head(), head)
})
