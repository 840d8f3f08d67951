// Webhook tests and simulations through the whole system, to endpoints of every mode.
import { type FakeEndpoint, startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { asAda, client, signingSecret } from './testing/roundTripHarness.ts'

type Planned = { readonly node: string; readonly event: string; readonly mode: string }
type Entry = {
  readonly id: string
  readonly event_type: string
  readonly status: string
  readonly response: { readonly node: string }
}

const ada = { id: '00000000-0000-4000-8000-000000000001', type: 'user', email: 'ada@example.com' }

const endpoints = {
  raw: await startFakeEndpoint(t),
  canonical: await startFakeEndpoint(t),
  both: await startFakeEndpoint(t),
  chat: await startFakeEndpoint(t),
  legacy: await startFakeEndpoint(t),
}
const system = await startSystem(t, {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: endpoints.raw.url,
  WEBHOOK_1_EVENT_MODE: 'raw',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: endpoints.canonical.url,
  WEBHOOK_2_SECRET: signingSecret,
  WEBHOOK_3_ENABLED: 'true',
  WEBHOOK_3_URL: endpoints.both.url,
  WEBHOOK_3_EVENT_MODE: 'both',
  WEBHOOK_4_ENABLED: 'true',
  WEBHOOK_4_URL: endpoints.chat.url,
  WEBHOOK_4_FORMAT: 'slack',
  EXTERNAL_WEBHOOK_URLS: endpoints.legacy.url,
})
const api = client(system)

async function sendTest(path: string, body: object): Promise<{ id: string; deliveries: readonly Planned[] }> {
  const headers = { 'content-type': 'application/json', ...asAda }
  const result = await api.call(path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (result.status !== 202) throw new Error(JSON.stringify(result.body))
  return result.body.data as { id: string; deliveries: readonly Planned[] }
}
async function logEntries(headers = asAda): Promise<readonly Entry[]> {
  const response = await fetch(`${system.baseUrl}/webhooks/logs?limit=1000`, { headers })
  return (await response.json()) as readonly Entry[]
}

/** The number of webhooks already read at each endpoint. */
const seen = new Map<FakeEndpoint, number>()
async function nextWebhooks(endpoint: FakeEndpoint, count: number) {
  const from = seen.get(endpoint) ?? 0
  await waitFor(() => endpoint.received.length >= from + count, { what: `${count} webhooks`, timeoutMs: 20_000 })
  seen.set(endpoint, endpoint.received.length)
  return endpoint.received.slice(from).map(({ id, body, headers }) => ({ id, headers, body, json: JSON.parse(body) }))
}

t.test(
  'a simulation reaches endpoints of every mode, flagged as a test and with the ids of the log [1-simulation]',
  async (t) => {
    const object = {
      id: 'pi_example1',
      amount: 500,
      currency: 'jpy',
      customer: 'cus_example1',
      receipt_email: 'pat@example.com',
    }
    const planned = await sendTest('/webhooks/external/simulate', {
      event: 'stripe:payment_intent.succeeded',
      provider: 'stripe',
      payload: object,
    })
    const [raw] = await nextWebhooks(endpoints.raw, 1)
    t.match(raw?.json, {
      event: 'stripe:payment_intent.succeeded',
      provider: 'stripe',
      data: { type: 'payment_intent.succeeded', data: { object } },
      test: true,
    })
    const [canonical] = await nextWebhooks(endpoints.canonical, 1)
    const expected = {
      event: 'payment.succeeded',
      provider: 'stripe',
      data: {
        payment_id: 'pi_example1',
        amount: 500,
        currency: 'JPY',
        status: 'succeeded',
        user: { id: 'cus_example1', type: 'customer', email: 'pat@example.com' },
        project: { id: 'default' },
      },
      test: true,
    }
    t.match(canonical?.json, expected)
    new Webhook(signingSecret).verify(canonical?.body ?? '', canonical?.headers as Record<string, string>)
    const both = await nextWebhooks(endpoints.both, 2)
    t.same(both.map(({ json }) => [json.event, json.test]).sort(), [
      ['payment.succeeded', true],
      ['stripe:payment_intent.succeeded', true],
    ])
    const [chat] = await nextWebhooks(endpoints.chat, 1)
    t.match(chat?.body, /test/i)
    t.match(chat?.body, /JPY/)
    const [legacy] = await nextWebhooks(endpoints.legacy, 1)
    t.match(legacy?.json, {
      event: 'payment_intent.succeeded',
      provider: 'stripe',
      data: {
        payment_id: 'pi_example1',
        amount: 500,
        currency: 'JPY',
        customer_email: 'pat@example.com',
        status: 'succeeded',
      },
      test: true,
    })
    await sentAsPlanned(t, planned.deliveries, [raw, canonical, ...both, chat, legacy])
  },
)

t.test('a webhook test contains the user who requests it [1-test]', async (t) => {
  const planned = await sendTest('/webhooks/test', {
    event: 'payment_intent.failed',
    test_data: { amount: 700, currency: 'usd' },
  })
  const [canonical] = await nextWebhooks(endpoints.canonical, 1)
  t.match(canonical?.json, {
    event: 'payment.failed',
    provider: 'sandbox',
    data: { payment_id: `test_${planned.id}`, amount: 700, currency: 'USD', status: 'failed', user: ada },
    test: true,
  })
  const [raw] = await nextWebhooks(endpoints.raw, 1)
  t.match(raw?.json, { event: 'sandbox:payment_intent.failed', data: { provider: 'sandbox' }, test: true })
  const [legacy] = await nextWebhooks(endpoints.legacy, 1)
  t.match(legacy?.json, { event: 'payment_intent.failed', data: { customer_email: ada.email }, test: true })
  const both = await nextWebhooks(endpoints.both, 2)
  const [chat] = await nextWebhooks(endpoints.chat, 1)
  await sentAsPlanned(t, planned.deliveries, [raw, canonical, ...both, chat, legacy])
})

t.test('the webhook log has exactly the deliveries that were sent [1-log]', async (t) => {
  const asAdministrator = { 'x-session-id': 'demo-admin-session' }
  const sent = () => Object.values(endpoints).flatMap(({ received }) => received.map(({ id }) => id))
  const entries = await waitFor(
    async () => {
      const all = await logEntries(asAdministrator)
      return sent().every((id) => all.some((entry) => entry.id === id)) && all
    },
    { what: 'the log to have every sent delivery' },
  )
  t.ok(entries.length > 0)
  for (const { id } of entries) t.ok(sent().includes(id), id)
})

/** Every planned delivery was sent once and is in the webhook log of the caller. */
async function sentAsPlanned(
  t: Test,
  planned: readonly Planned[],
  sent: readonly ({ readonly id: string } | undefined)[],
): Promise<void> {
  const ids = sent.map((each) => each?.id ?? '')
  t.equal(new Set(ids).size, planned.length)
  const entries = await waitFor(
    async () => {
      const mine = (await logEntries()).filter(({ id }) => ids.includes(id))
      return mine.length === planned.length && mine
    },
    { what: 'the log to have them' },
  )
  const names = (list: readonly string[][]) => list.map((each) => each.join(' ')).sort()
  t.same(
    names(entries.map(({ event_type, response }) => [response.node, event_type])),
    names(planned.map(({ node, event }) => [node, event])),
  )
  t.ok(entries.every(({ status }) => status === 'success'))
}
