import { createEventStore } from '@paylog/event-store/eventStore'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess } from '@paylog/testing/processes'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'

const shop = 'https://shop.example.com'

/** Starts command-api and api on one Redis, so that they count together. */
async function startBoth(t: Test, limits: Readonly<Record<string, string>>) {
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
    ...limits,
  }
  const start = (app: string) => startProcess(t, { script: new URL(`../../${app}/src/main.ts`, import.meta.url), env })
  const [api, commandApi] = await Promise.all([start('api'), start('command-api')])
  const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
  t.teardown(() => store.close())
  return { urls: [String(api.detail.url), String(commandApi.detail.url)], store, identity, api, commandApi }
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
  const { urls, store } = await startBoth(t, { RATE_LIMIT_PER_MINUTE: '4', RATE_LIMIT_ANONYMOUS_PER_MINUTE: '4' })
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

t.test('other limits of two processes', withRedis, async (t) => {
  const { urls, identity, api, commandApi } = await startBoth(t, {
    RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '4',
    RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '2',
  })
  const [first = '', second = ''] = urls

  t.test('webhook tests and simulations of a session share one limit in all processes', async (t) => {
    const sendTest = async (url: string, path: string) => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session-id': 'demo-session-2' },
        body: JSON.stringify({ event: 'customer.created', provider: 'stripe' }),
      })
      await response.bytes()
      return [response.status, response.headers.get('ratelimit-remaining')]
    }
    t.same(await sendTest(first, '/webhooks/test'), [202, '1'])
    t.same(await sendTest(second, '/webhooks/external/simulate'), [202, '0'])
    for (const path of ['/webhooks/test', '/webhooks/external/simulate'])
      t.same(await sendTest(first, path), [429, '0'])
  })

  t.test(
    'over the failed-credential limit, each process sends at most ten more and one a second to the identity backend',
    async (t) => {
      const status = async (url: string, headers: Record<string, string>) => (await begin(url, headers)).status
      for (let n = 0; n < 2; n++) {
        t.equal(await status(first, { 'x-session-id': `guessed-${n}` }), 401)
        t.equal(await status(second, { 'x-guest-token': `guessed-${n}` }), 401)
      }
      for (const url of urls) {
        for (let n = 0; n < 30; n++) t.equal(await status(url, { 'x-session-id': `guessed-${n}` }), 429)
        await waitFor(async () => (await status(url, { 'x-session-id': 'demo-session' })) === 201, {
          what: 'a valid session behind the same address to get through',
        })
        t.equal(
          await status(url, { 'x-session-id': 'demo-session' }),
          201,
          'a session that was validated before gets through at once',
        )
      }
      // A request that reaches the backend now would get 503.
      identity.breakWith('drop')
      for (const url of urls) {
        const statuses: number[] = []
        for (let n = 0; n < 30; n++) statuses.push(await status(url, { 'x-session-id': `guessed-${n}` }))
        t.ok(statuses.includes(429), 'most guesses do not reach the identity backend')
        t.equal(
          (await fetch(`${url}/payments/intents`, { method: 'POST' })).status,
          400,
          'anonymous callers are not limited by it',
        )
      }
      t.notMatch(api.output() + commandApi.output(), /guessed|demo-session/)
    },
  )
})
