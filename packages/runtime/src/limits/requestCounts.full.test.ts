import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { apiHarness } from '../testing/apiHarness.ts'
import { countRequests } from './requestCounts.ts'

/** An API that counts in Redis; `send` sends one request of a caller. */
async function countingApi(t: Test, redisUrl: string) {
  const variables = { REDIS_URL: redisUrl, RATE_LIMIT_PER_MINUTE: '100', RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100' }
  const { url, logged } = await apiHarness(t, variables, async (http) => {
    http.get('/', async () => ({}))
  })
  return {
    logged,
    async send(caller: string) {
      const begin = performance.now()
      const response = await fetch(url, { headers: { 'x-session-id': caller } })
      await response.text()
      const left = Number(response.headers.get('ratelimit-remaining'))
      return { status: response.status, left, ms: performance.now() - begin }
    },
  }
}

t.test('a window begins with the first request and ends a minute later', async (t) => {
  let at = 1_000
  const count = countRequests({ now: () => at })
  t.same(await count(['a'], 1), [{ count: 1, restMs: 60_000 }])
  at += 59_999
  t.same(await count(['a', 'b'], 1), [
    { count: 2, restMs: 1 },
    { count: 1, restMs: 60_000 },
  ])
  t.same(await count(['a'], 0), [{ count: 2, restMs: 1 }], 'a step of 0 does not count')
  at += 1
  t.same(await count(['a'], 0), [{ count: 0, restMs: 60_000 }])
  t.same(await count(['a'], 1), [{ count: 1, restMs: 60_000 }])
})

t.test('with very many callers, counts of inactive callers are dropped and those of active ones kept', async (t) => {
  const count = countRequests()
  const countOf = async (key: string, step: 0 | 1) => (await count([key], step))[0]?.count
  for (let n = 0; n < 120_000; n++) {
    await count([`caller-${n}`], 1)
    if (n % 20_000 === 0) await countOf('often', 1)
  }
  t.equal(await countOf('often', 0), 6)
  t.equal(await countOf('caller-60000', 0), 0)
  t.equal(await countOf('caller-100000', 0), 1)
})

t.test('two processes share counts in Redis, and every count expires', withRedis, async (t) => {
  const redis = await startRedisServer(t, { isDurable: false })
  const [one, other] = [await countingApi(t, redis.url), await countingApi(t, redis.url)]
  const remainders: number[] = []
  for (let n = 0; n < 3; n++) remainders.push((await one.send('ada')).left, (await other.send('ada')).left)
  t.same(remainders, [99, 98, 97, 96, 95, 94])
  t.equal((await one.send('grace')).left, 99)
  const client = new Redis(redis.url)
  t.teardown(() => client.disconnect())
  const counts = await client.keys('*')
  t.equal(counts.length, 3, 'one per caller, and one for invalid credentials')
  for (const count of counts) {
    t.ok((await client.pttl(count)) > 0, count)
    t.match(count, /^paylog-limit:[\w-]{43}$/, 'no address of a client')
  }
  const elsewhere = countRequests({ useRedis: (run) => run(client), secret: 'another' })
  t.match(await elsewhere(['unauthenticated:127.0.0.1'], 1), [{ count: 1 }], 'the names depend on the secret')
})

t.test(
  'requests are counted in the process while Redis hangs, and in Redis again when it recovers',
  withRedis,
  async (t) => {
    const redis = await startRedisServer(t, { isDurable: false })
    const { send, logged } = await countingApi(t, redis.url)
    for (let n = 0; n < 50; n++) await send('ada')
    redis.pause()
    const first = await send('ada')
    t.equal(first.status, 200)
    t.ok(first.ms < 600, `the first waited ${first.ms.toFixed()} ms, once`)
    t.equal(first.left, 99, 'a new count in the process')
    const waits: number[] = []
    for (let n = 0; n < 20; n++) waits.push((await send('ada')).ms)
    t.ok(waits.filter((ms) => ms >= 200).length <= 2, `hardly any other waited: ${waits.map(Math.round)}`)
    redis.resume()
    const isBack = () => logged.some((line) => line.includes('available again'))
    await waitFor(async () => (await send('ada')).left < 51 && isBack(), { what: 'the count in Redis to continue' })
    t.equal(logged.filter((line) => line.includes('is unavailable')).length, 1)
  },
)

t.test('requests do not wait for a Redis that is down or not started yet', withRedis, async (t) => {
  const redis = await startRedisServer(t, { isDurable: false })
  await redis.kill()
  const { send, logged } = await countingApi(t, redis.url)
  t.same((await send('ada')).left, 99)
  await redis.restart()
  const inRedis = () => logged.filter((line) => line.includes('available again')).length
  await waitFor(async () => (await send('ada')).status === 200 && inRedis() === 1, { what: 'Redis to be used' })
  await redis.kill()
  for (let n = 0; n < 20; n++) t.ok((await send('ada')).ms < 500)
  await redis.restart()
  await waitFor(async () => (await send('ada')).status === 200 && inRedis() === 2, { what: 'Redis to be used again' })
  t.equal(logged.filter((line) => line.includes('is unavailable')).length, 1, 'one warning a minute')
})

t.test('a dead Redis connection is replaced', withRedis, async (t) => {
  const redis = await startRedisServer(t, { isDurable: false })
  const proxy = await startTcpProxy(t, redis.port)
  const { send, logged } = await countingApi(t, `redis://127.0.0.1:${proxy.port}`)
  t.equal((await send('ada')).left, 99)
  proxy.freezeConnections()
  const isBack = () => logged.some((line) => line.includes('available again'))
  await waitFor(async () => (await send('ada')).status === 200 && isBack(), { what: 'another connection to be used' })
  t.equal((await send('ada')).status, 200)
  t.ok(Number((await send('ada')).left) < 97, 'earlier counts are kept')
})
