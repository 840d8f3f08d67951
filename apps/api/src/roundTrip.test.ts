import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
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

t.test(
  'a guest who paid without a token and then read the payment with one changes and deletes after it expired',
  async (t) => {
    const guestOf = (token: string) => ({
      token,
      email: 'Kim@example.com',
      name: 'Kim',
      expires_at: null as string | null,
    })
    const [reader, other] = [guestOf('reading-token'), guestOf('other-token')]
    const { authUrl } = await startFakeIdentity(t, { guestTokens: [reader, other] })
    const system = await startSystem(t, { AUTH_URL: authUrl })
    const { call } = client(system)
    const as = ({ token }: { readonly token: string }) => ({
      'x-guest-token': token,
      'content-type': 'application/json',
    })
    const send = (method: string, path: string, headers: Record<string, string>, body: object) =>
      call(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
    const guest_data = { email: 'kim@example.com' }
    const paid = await send('POST', '/payments/intents', {}, { total_cents: 2599, currency: 'EUR', guest_data })
    t.equal(paid.status, 201)
    const address = { address_type: 'shipping', line1: 'Calle 1', city: 'Madrid', postal_code: '28001', country: 'ES' }
    const { body } = await send('POST', '/addresses', as(other), address)
    const path = `/addresses/${(body.data as { id: string }).id}`

    const store = connectEventStore(t, { connectionString: system.eventStoreUrl, keys: system.keys })
    const remembered = async () => (await Array.fromAsync(store.readLog({ prefixes: ['guestToken-'] }))).length
    const list = () => call('/payments', { headers: as(reader) })
    await waitFor(async () => ((await list()).body.data as unknown[]).length === 1, { what: 'the payment in the list' })
    await waitFor(async () => (await remembered()) === 1, { what: 'the remembered token' })
    await Promise.all([
      list(),
      list(),
      call(`/payments/${(paid.body.data as { id: string }).id}`, { headers: as(reader) }),
    ])

    for (const token of [reader, other]) token.expires_at = '2020-01-01T00:00:00.000Z'
    t.equal((await list()).status, 401)
    t.equal((await send('PUT', path, as(other), { alias: 'a' })).status, 401, 'this token has read no payment')
    t.equal((await send('PUT', path, as(reader), { alias: 'a' })).status, 200)
    t.equal((await send('DELETE', path, as(reader), {})).status, 200)
    t.equal(await remembered(), 1)
  },
)
