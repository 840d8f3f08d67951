import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { signSandboxEvent } from '@paylog/providers/sandboxSignature'
import { startSystem, startWebhookSink, type TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'

const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
let counter = 0

type Answer = { readonly status: number; readonly body: { readonly data?: unknown; readonly meta?: unknown } }

/** One client of the API, which repeats what failed as the API tells it to: with the same Idempotency-Key. */
function client({ baseUrl, sandboxSecret }: TestSystem) {
  async function call(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(30_000), ...init })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  const persistently = (what: string, request: () => Promise<Answer>) =>
    waitFor(
      async () => {
        const answer = await request().catch(() => undefined)
        return answer && (answer.status === 200 || answer.status === 201) && answer
      },
      { timeoutMs: 60_000, what },
    )
  return {
    call,
    async open(): Promise<{ id: string; provider_intent_id: string }> {
      const key = `round-trip-${counter++}`
      const { body } = await persistently('a payment', () =>
        call('/payments/intents', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-session-id': 'demo-session', 'idempotency-key': key },
          body: JSON.stringify({ total_cents: 2599, currency: 'EUR' }),
        }),
      )
      return body.data as { id: string; provider_intent_id: string }
    },
    settle(intent: string, outcome = 'succeeded') {
      const created = Math.floor(Date.now() / 1000)
      const object = { id: intent, amount: 2599, currency: 'eur', status: outcome, customer: null }
      const body = JSON.stringify({
        id: `evt_${counter++}`,
        type: `payment_intent.${outcome}`,
        created,
        data: { object },
      })
      const headers = {
        'content-type': 'application/json',
        'sandbox-signature': signSandboxEvent(sandboxSecret, body, created),
      }
      return persistently('the receiver', () => call('/webhooks/sandbox', { method: 'POST', headers, body }))
    },
    list: (query = '') => call(`/payments?limit=50${query}`, { headers: { 'x-session-id': 'demo-session' } }),
    get: (id: string) => call(`/payments/${id}`, { headers: { 'x-session-id': 'demo-session' } }),
  }
}

const nodes = (canonicalUrl: string, bothUrl: string) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: canonicalUrl,
  WEBHOOK_1_SECRET: signingSecret,
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: bothUrl,
  WEBHOOK_2_EVENT_MODE: 'both',
})

async function tellsEverybody(t: Test, env: Record<string, string>) {
  const [canonical, both] = await Promise.all([startWebhookSink(t), startWebhookSink(t)])
  const system = await startSystem(t, { ...nodes(canonical.url, both.url), ...env })
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
  const ids = [...canonical.received, ...both.received].map(({ headers }) => headers['webhook-id'])
  t.equal(new Set(ids).size, 5, 'every message has an id of its own')
}

t.test('a payment goes from the request to the log, the read model and the endpoints', (t) => tellsEverybody(t, {}))

const redisUrl = process.env.REDIS_TEST_URL
if (redisUrl === undefined) t.comment('NOT TESTED: there is no redis-server, so the Redis queue is left out')
else t.test('the same with Redis as the queue', (t) => tellsEverybody(t, { REDIS_URL: redisUrl }))

/** Makes payments and settles them while something dreadful happens, then looks whether all of it is there once. */
async function survives(
  t: Test,
  env: Record<string, string>,
  dreadful: (system: TestSystem, n: number) => Promise<void>,
) {
  const [canonical, both] = await Promise.all([startWebhookSink(t), startWebhookSink(t)])
  const system = await startSystem(t, { ...nodes(canonical.url, both.url), ...env })
  const api = client(system)
  const total = 40
  const made: string[] = []
  const work = async () => {
    while (made.length < total) {
      const { id, provider_intent_id } = await api.open()
      made.push(id)
      await api.settle(provider_intent_id)
    }
  }
  const working = Promise.all([work(), work(), work(), work()])
  for (let n = 0; n < 3; n++) {
    await waitFor(() => made.length >= (n + 1) * 9, { what: 'payments under way', timeoutMs: 60_000 })
    await dreadful(system, n)
  }
  await working

  const store = createEventStore({ connectionString: system.eventStoreUrl })
  t.teardown(() => store.close())
  for (const id of made) {
    const types = (await store.readStream(paymentStream(id))).map(({ type }) => type)
    t.same(types, ['PaymentInitiated', 'ProviderIntentCreated', 'PaymentSucceeded'], id)
  }
  const listed = await waitFor(
    async () => {
      const { body } = await api.list('&status=succeeded')
      const { meta, data } = body as { meta: { total: number }; data: { id: string }[] }
      return meta.total === made.length && data
    },
    { what: 'every payment in the list, settled', timeoutMs: 30_000 },
  )
  t.same(new Set(listed.map(({ id }) => id)), new Set(made))
  const told = (received: typeof canonical.received) =>
    new Set(received.map(({ body, headers }) => `${JSON.parse(body).event} ${headers['webhook-id']}`))
  await waitFor(() => told(canonical.received).size >= 2 * made.length && told(both.received).size >= 3 * made.length, {
    what: 'every webhook',
    timeoutMs: 60_000,
  })
  t.equal(told(canonical.received).size, 2 * made.length, 'no webhook too many at the canonical node')
  t.equal(told(both.received).size, 3 * made.length, 'no webhook too many at the node that takes both')
}

const killAndStart = (part: keyof TestSystem['parts']) => async (system: TestSystem) => {
  await system.parts[part].kill()
  await system.parts[part].start()
}

for (const part of ['projector', 'worker', 'event-store-node'] as const)
  t.test(`kill -9 of the ${part} under load loses and doubles nothing`, (t) => survives(t, {}, killAndStart(part)))

// Once only: whoever asks again for a payment that the dead gateway had under way has to wait until it counts as dead.
t.test('kill -9 of the gateway under load loses and doubles nothing', (t) =>
  survives(t, {}, async (system, n) => {
    if (n === 0) await killAndStart('gateway')(system)
  }),
)

if (redisUrl !== undefined)
  t.test('an emptied Redis and a killed worker lose no webhook', (t) =>
    survives(t, { REDIS_URL: redisUrl }, async (system, n) => {
      const redis = new Redis(redisUrl)
      await redis.flushall()
      redis.disconnect()
      if (n === 1) await killAndStart('worker')(system)
    }),
  )
