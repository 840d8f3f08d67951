import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { client, killAndStart, signingSecret, startTold, survives, type Told } from './testing/roundTrip.ts'

async function tellsEverybody(t: Test, { system, canonical, both }: Told) {
  const api = client(system)
  const { id, provider_intent_id } = await api.open()
  t.match(
    (await api.list()).body,
    { data: [{ id, status: 'pending' }], meta: { total: 1 } },
    'the caller reads its write',
  )
  await waitFor(() => canonical.received.length === 1 && both.received.length === 1, { what: 'payment.created' })
  await api.settle(provider_intent_id)
  await waitFor(async () => ((await api.get(id)).body.data as { status: string }).status === 'succeeded', {
    what: 'the settled payment in the read model',
  })
  await waitFor(() => canonical.received.length === 2 && both.received.length === 3, { what: 'all webhooks' })
  const verifier = new Webhook(signingSecret)
  for (const { body, headers } of canonical.received) verifier.verify(body, headers as Record<string, string>)
  t.same(
    canonical.received.map(({ body }) => JSON.parse(body).event),
    ['payment.created', 'payment.succeeded'],
  )
  t.match(JSON.parse(canonical.received[1]?.body ?? ''), {
    event: 'payment.succeeded',
    provider: 'sandbox',
    timestamp: String,
    data: {
      payment_id: id,
      amount: 2599,
      currency: 'EUR',
      status: 'succeeded',
      user: { id: '00000000-0000-4000-8000-000000000001', type: 'user', email: 'ada@example.com' },
      project: { id: 'default' },
    },
  })
  t.same(both.received.map(({ body }) => JSON.parse(body).event).sort(), [
    'payment.created',
    'payment.succeeded',
    'sandbox:payment_intent.succeeded',
  ])
  const ids = [...canonical.received, ...both.received].map(({ id }) => id)
  t.equal(new Set(ids).size, 5, 'every message has an id of its own')
}

const told = await startTold(t)

t.test('a payment goes from the request to the log, the read model and the endpoints', async (t) => {
  await tellsEverybody(t, told)
  const page = async (path: string) => {
    const response = await fetch(`${told.system.baseUrl}${path}`)
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

for (const part of ['projector', 'event-store-node'] as const)
  t.test(`kill -9 of the ${part} under load loses and doubles nothing`, (t) =>
    survives(t, told, { exactlyOnce: true, dreadful: killAndStart(part) }),
  )

// Once only: whoever asks again for a payment that the dead gateway had under way has to wait until it counts as dead.
t.test('kill -9 of the gateway under load loses and doubles nothing', (t) =>
  survives(t, told, {
    exactlyOnce: true,
    async dreadful(system, n) {
      if (n === 0) await killAndStart('gateway')(system)
    },
  }),
)

// What it was sending when it died it sends again, under the same id.
t.test('kill -9 of the worker under load loses no webhook and makes none up', (t) =>
  survives(t, told, { dreadful: killAndStart('worker') }),
)

const redisUrl = process.env.REDIS_TEST_URL
if (redisUrl === undefined) t.comment('NOT TESTED: there is no redis-server, so the Redis queue is left out')
else
  t.test('with Redis as the queue', async (t) => {
    // Other files test on the same server at the same time, and do not want to be emptied.
    const ownDatabase = new URL('/1', redisUrl).href
    const told = await startTold(t, { REDIS_URL: ownDatabase })
    t.test('a payment goes all the way as well', (t) => tellsEverybody(t, told))
    t.test('an emptied Redis and a killed worker lose no webhook and make none up', (t) =>
      survives(t, told, {
        async dreadful(system, n) {
          const redis = new Redis(ownDatabase)
          await redis.flushdb()
          redis.disconnect()
          if (n === 1) await killAndStart('worker')(system)
        },
      }),
    )
  })
