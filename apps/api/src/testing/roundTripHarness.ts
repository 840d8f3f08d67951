// Shared by the tests of the whole system: a client that retries, webhook endpoints, and payments under faults.
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

/** A client that repeats failed requests with the same Idempotency-Key. */
export function client({ baseUrl, sandboxSecret }: TestSystem) {
  async function call(path: string, init: RequestInit = {}): Promise<ApiResponse> {
    const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(30_000), ...init })
    return { status: response.status, body: (await response.json()) as ApiResponse['body'] }
  }
  const withRetries = (what: string, request: () => Promise<ApiResponse>) =>
    waitFor(
      async () => {
        const result = await request().catch(() => undefined)
        return result && (result.status === 200 || result.status === 201) && result
      },
      { timeoutMs: 60_000, what },
    )
  return {
    call,
    async open(): Promise<{ id: string; provider_intent_id: string }> {
      const key = `round-trip-${counter++}`
      const { body } = await withRetries('a payment', () =>
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
      return withRetries('the receiver', () => call('/webhooks/sandbox', { method: 'POST', headers, body }))
    },
    list: (query = '') => call(`/payments?limit=50${query}`, { headers: { 'x-session-id': 'demo-session' } }),
    /** The latest fifty succeeded payments, newest first, and their total number. */
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

/** The system with two webhook endpoints. One takes both event modes. */
export async function roundTripHarness(t: Test, env: Readonly<Record<string, string>> = {}): Promise<RoundTripHarness> {
  const [canonical, both] = await Promise.all([startFakeEndpoint(t), startFakeEndpoint(t)])
  return { system: await startSystem(t, { ...endpointVariables(canonical.url, both.url), ...env }), canonical, both }
}

/** A payment reaches the endpoints, each with the events that it selects. */
export async function assertWebhooksDelivered(t: Test, { system, canonical, both }: RoundTripHarness) {
  const api = client(system)
  const { id, provider_intent_id } = await api.open()
  t.match(
    (await api.list()).body,
    { data: [{ id, status: 'pending' }], meta: { total: 1 } },
    'the caller reads its own write',
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
  t.equal(new Set(ids).size, 5, 'every webhook has its own id')
}

/**
 * Creates and settles payments while a fault happens, then checks that each is complete exactly once. All earlier
 * webhooks must have arrived.
 * @param options `exactlyOnce`: the worker survives, so no webhook may be sent twice
 */
export async function assertSurvivesFault(
  t: Test,
  { system, ...endpoints }: RoundTripHarness,
  options: { readonly causeFault: (system: TestSystem, n: number) => Promise<void>; readonly exactlyOnce?: boolean },
) {
  const api = client(system)
  const seen = { canonical: endpoints.canonical.received.length, both: endpoints.both.received.length }
  const receivedSince = (node: keyof typeof seen) => endpoints[node].received.slice(seen[node])
  const totalBefore = (await api.settled()).total
  const total = 18
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
    await waitFor(() => made.length >= (n + 1) * 6, { what: 'payments under way', timeoutMs: 60_000 })
    await options.causeFault(system, n)
  }
  await working

  const store = createEventStore({ connectionString: system.eventStoreUrl, keys: system.keys })
  t.teardown(() => store.close())
  const historyOf = async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type)
  for (const id of made) {
    // A notification stored before the fault got a 200. The reconciler applies it later.
    await waitFor(async () => (await historyOf(id)).includes('PaymentSucceeded'), {
      what: `${id} to succeed`,
      timeoutMs: 60_000,
    })
    t.same(
      await historyOf(id),
      ['PaymentInitiated', 'ProviderIntentCreated', 'ProviderNotificationReceived', 'PaymentSucceeded'],
      id,
    )
  }
  const listed = await waitFor(
    async () => {
      const { ids, total } = await api.settled()
      return total === totalBefore + made.length && ids
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
  t.equal(messages('canonical'), 2 * made.length, 'no extra webhook at the canonical endpoint')
  t.equal(messages('both'), 3 * made.length, 'no extra webhook at the endpoint for both modes')
  if (!options.exactlyOnce) return
  t.equal(receivedSince('canonical').length, 2 * made.length, 'each webhook once at the canonical endpoint')
  t.equal(receivedSince('both').length, 3 * made.length, 'each webhook once at the endpoint for both modes')
}

export const killAndStart = (part: keyof TestSystem['services']) => async (system: TestSystem) => {
  await system.services[part].kill()
  await system.services[part].start()
}
