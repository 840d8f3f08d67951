import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { asAda, client, endpointVariables, signingSecret } from './testing/roundTripHarness.ts'

const redisUrl = process.env.REDIS_TEST_URL
if (redisUrl === undefined) t.comment('NOT TESTED: there is no redis-server, so the Redis queue is left out')

t.test('a payment reaches the log, the read model and the webhook endpoints [1-round-trip]', async (t) => {
  const [canonical, both] = await Promise.all([startFakeEndpoint(t), startFakeEndpoint(t)])
  const system = await startSystem(t, {
    ...endpointVariables(canonical.url, both.url),
    // Other test files use the same server at the same time, so this one has its own database.
    ...(redisUrl !== undefined && { REDIS_URL: new URL('/1', redisUrl).href }),
  })
  const api = client(system)
  const { id, provider_intent_id } = await api.open()
  t.match(
    (await api.call('/payments', { headers: asAda })).body,
    { data: [{ id, status: 'pending' }], meta: { total: 1 } },
    'the caller reads its own write',
  )
  await waitFor(() => canonical.received.length === 1 && both.received.length === 1, { what: 'payment.created' })
  await api.settle(provider_intent_id)
  const shown = async () => (await api.call(`/payments/${id}`, { headers: asAda })).body.data as { status: string }
  await waitFor(async () => (await shown()).status === 'succeeded', { what: 'the settled payment in the read model' })
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
  t.equal(new Set(ids).size, 5, 'every webhook has its own id')
})
