// What the tests of the whole system share: a persistent client, the nodes, and the story that has to survive faults.
import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { type FakeEndpoint, startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startSystem, type TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'

export const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
let counter = 0

type ApiResponse = { readonly status: number; readonly body: { readonly data?: unknown; readonly meta?: unknown } }

/** One client of the API, which repeats what failed as the API tells it to: with the same Idempotency-Key. */
export function client({ baseUrl, sandboxSecret }: TestSystem) {
  async function call(path: string, init: RequestInit = {}): Promise<ApiResponse> {
    const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(30_000), ...init })
    return { status: response.status, body: (await response.json()) as ApiResponse['body'] }
  }
  const persistently = (what: string, request: () => Promise<ApiResponse>) =>
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
    /** The last fifty that succeeded, the newest first, and how many there are. */
    async settled(): Promise<{ ids: string[]; total: number }> {
      const { meta, data } = (await this.list('&status=succeeded')).body as {
        meta: { total: number }
        data: { id: string }[]
      }
      return { ids: data.map(({ id }) => id), total: meta.total }
    },
    get: (id: string) => call(`/payments/${id}`, { headers: { 'x-session-id': 'demo-session' } }),
  }
}

export const endpointVariables = (canonicalUrl: string, bothUrl: string) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: canonicalUrl,
  WEBHOOK_1_SECRET: signingSecret,
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: bothUrl,
  WEBHOOK_2_EVENT_MODE: 'both',
})

export type RoundTripHarness = {
  readonly system: TestSystem
  readonly canonical: FakeEndpoint
  readonly both: FakeEndpoint
}

/** The system with two nodes, one of which takes both kinds of messages. */
export async function roundTripHarness(t: Test, env: Readonly<Record<string, string>> = {}): Promise<RoundTripHarness> {
  const [canonical, both] = await Promise.all([startFakeEndpoint(t), startFakeEndpoint(t)])
  return { system: await startSystem(t, { ...endpointVariables(canonical.url, both.url), ...env }), canonical, both }
}

/** A payment goes from the request to the endpoints, each of which hears what it asked for. */
export async function assertWebhooksDelivered(t: Test, { system, canonical, both }: RoundTripHarness) {
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

/**
 * Makes payments and settles them while something dreadful happens, then looks whether all of it is there once. Everything
 * from before has to be told by then.
 * @param options `exactlyOnce` when the worker lives on: then no message has a reason to be sent twice
 */
export async function assertSurvivesFault(
  t: Test,
  { system, ...endpoints }: RoundTripHarness,
  options: { readonly causeFault: (system: TestSystem, n: number) => Promise<void>; readonly exactlyOnce?: boolean },
) {
  const api = client(system)
  const seen = { canonical: endpoints.canonical.received.length, both: endpoints.both.received.length }
  const receivedSince = (node: keyof typeof seen) => endpoints[node].received.slice(seen[node])
  const settledBefore = (await api.settled()).total
  const total = 24
  const made: string[] = []
  const work = async () => {
    while (made.length < total) {
      const { id, provider_intent_id } = await api.open()
      made.push(id)
      await api.settle(provider_intent_id)
    }
  }
  const working = Promise.all([work(), work(), work(), work()])
  for (let n = 0; n < 2; n++) {
    await waitFor(() => made.length >= (n + 1) * 8, { what: 'payments under way', timeoutMs: 60_000 })
    await options.causeFault(system, n)
  }
  await working

  const store = createEventStore({ connectionString: system.eventStoreUrl })
  t.teardown(() => store.close())
  const historyOf = async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type)
  for (const id of made) {
    // A notification that is stored when something breaks is answered with 200, and the sweep applies it later.
    await waitFor(async () => (await historyOf(id)).includes('PaymentSucceeded'), {
      what: `the end of ${id}`,
      timeoutMs: 60_000,
    })
    t.same(await historyOf(id), ['PaymentInitiated', 'ProviderIntentCreated', 'PaymentSucceeded'], id)
  }
  const listed = await waitFor(
    async () => {
      const { ids, total } = await api.settled()
      return total === settledBefore + made.length && ids
    },
    { what: 'every payment in the list, settled', timeoutMs: 30_000 },
  )
  // The newest come first.
  t.same(new Set(listed.slice(0, made.length)), new Set(made))
  const messages = (node: keyof typeof seen) =>
    new Set(receivedSince(node).map(({ body, id }) => `${JSON.parse(body).event} ${id}`)).size
  await waitFor(() => messages('canonical') >= 2 * made.length && messages('both') >= 3 * made.length, {
    what: 'every webhook',
    timeoutMs: 60_000,
  })
  t.equal(messages('canonical'), 2 * made.length, 'no webhook too many at the canonical node')
  t.equal(messages('both'), 3 * made.length, 'no webhook too many at the node that takes both')
  if (!options.exactlyOnce) return
  t.equal(receivedSince('canonical').length, 2 * made.length, 'each message once at the canonical node')
  t.equal(receivedSince('both').length, 3 * made.length, 'each message once at the node that takes both')
}

export const killAndStart = (part: keyof TestSystem['services']) => async (system: TestSystem) => {
  await system.services[part].kill()
  await system.services[part].start()
}
