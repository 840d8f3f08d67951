import { Redis } from 'ioredis'
import t from 'tap'
import {
  assertSurvivesFault,
  assertWebhooksDelivered,
  killAndStart,
  roundTripHarness,
} from './testing/roundTripHarness.ts'

const redisUrl = process.env.REDIS_TEST_URL
// Other test files use the same server at the same time, so this one flushes its own database only.
const ownDatabase = redisUrl === undefined ? undefined : new URL('/1', redisUrl).href
const harness = await roundTripHarness(t, ownDatabase === undefined ? {} : { REDIS_URL: ownDatabase })

t.test('a payment reaches the log, the read model and the webhook endpoints [1-round-trip]', async (t) => {
  await assertWebhooksDelivered(t, harness)
  const page = async (path: string) => {
    const response = await fetch(`${harness.system.baseUrl}${path}`)
    t.equal(response.status, 200, path)
    return response.text()
  }
  const { openapi, paths } = JSON.parse(await page('/openapi.json'))
  t.match(openapi, /^3\.1/)
  t.match(paths, { '/payments/intents': { post: Object }, '/payments/{id}': { get: Object } })
  t.match(await page('/docs'), /Paylog API/)
  t.match(JSON.parse(await page('/health/ready')), { status: 'ready', checks: { event_store: { ok: true } } })
  t.match(await page('/metrics'), /http_request_duration_seconds_count\{method="POST",route="\/payments\/intents"/)
})

if (ownDatabase === undefined) t.comment('NOT TESTED: there is no redis-server, so the Redis queue is left out')
else
  t.test('an emptied Redis and a killed worker lose no webhook and invent none', (t) =>
    assertSurvivesFault(t, harness, {
      async causeFault(system, n) {
        const redis = new Redis(ownDatabase)
        await redis.flushdb()
        redis.disconnect()
        if (n === 1) await killAndStart('worker')(system)
      },
    }),
  )
