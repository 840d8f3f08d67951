import { randomUUID } from 'node:crypto'
import { guestTokenFold } from '@paylog/domain/guestToken'
import { createEventStore, newStream } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'
import { createPace } from '@paylog/providers/pacing'
import { type CreateIntent, type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { createRequest, refTo } from '@paylog/providers/testing/requests'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { createWorkflowMetrics, observedProvider, type ProviderCallEnd } from './telemetry.ts'

const intent = (more: Partial<CreateIntent> = {}) => ({ ...createRequest, idempotency_key: randomUUID(), ...more })
const ref = { ...refTo('pi'), idempotency_key: randomUUID() }
const sandbox = createSandbox({ webhookSecrets: ['secret'] })
const product = {
  product_id: randomUUID(),
  name: 'A product',
  description: null,
  product_type: 'digital' as const,
  price: { amount_cents: 100, currency: 'EUR', recurring: null },
}

function observed(provider: Provider) {
  const ends: ProviderCallEnd[] = []
  return { ends, provider: observedProvider(provider, (end) => ends.push(end)) }
}

t.test('every provider call is observed with its outcome, and its result or error is unchanged', async (t) => {
  const failing = new TypeError('a bug')
  const { ends, provider } = observed({
    ...sandbox,
    async cancelIntent({ provider_intent_id }) {
      if (provider_intent_id === 'bug') throw failing
      throw new ProviderError('unknown', 'timeout', 'The provider did not respond')
    },
  })
  t.match(await provider.createIntent(intent({ idempotency_key: 'key' })), { provider_intent_id: 'sandbox_pi_key' })
  await t.rejects(provider.createIntent(intent({ provider_method_id: 'pm_card_declined' })), {
    name: 'ProviderError',
    kind: 'declined',
  })
  await t.rejects(async () => provider.cancelIntent(ref), {
    kind: 'unknown',
    code: 'timeout',
  })
  await t.rejects(async () => provider.cancelIntent({ ...ref, provider_intent_id: 'bug' }), failing)
  const unsigned = { body: Buffer.from('{}'), headers: {}, now: new Date() }
  await t.rejects(provider.verifyNotification(unsigned), { code: 'invalid_signature' })
  await provider.catalog?.putProduct({ idempotency_key: 'key', product, price: 'put', known: null })
  t.same(
    ends.map(({ provider, operation, outcome }) => `${provider} ${operation}: ${outcome}`),
    [
      'sandbox createIntent: ok',
      'sandbox createIntent: declined',
      'sandbox cancelIntent: unknown',
      'sandbox cancelIntent: failed',
      'sandbox verifyNotification: refused',
      'sandbox catalog.putProduct: ok',
    ],
  )
  t.ok(ends.every(({ seconds }) => seconds >= 0 && seconds < 10))
})

t.test('a throttled provider call is observed as ok_throttled or throttled', async (t) => {
  const { pause } = createPace({ perSecond: 0 })
  const rateLimit = { retryAfterMs: null }
  const { ends, provider } = observed({
    ...sandbox,
    createIntent: async (request) => {
      pause(1)
      if (request.provider_method_id) throw new ProviderError('unavailable', 'http_429', 'Slow down', { rateLimit })
      return sandbox.createIntent(request)
    },
  })
  await provider.createIntent(intent())
  await t.rejects(provider.createIntent(intent({ provider_method_id: 'pm_1' })), { code: 'http_429' })
  t.same(
    ends.map(({ outcome }) => outcome),
    ['ok_throttled', 'throttled'],
  )
})

t.test('synchronous provider methods stay synchronous and are not observed', async (t) => {
  const { ends, provider } = observed(createFakeProvider(t).provider)
  t.equal(provider.isTestMethod('pm_card_visa'), true)
  t.equal(provider.isTestMethod('pm_other'), false)
  t.equal(provider.catalog?.keepsPrice(product), true)
  const unsupported = { ...product, price: { ...product.price, currency: 'XAF' } }
  t.throws(() => provider.catalog?.checkProduct(unsupported), { name: 'ProviderError', kind: 'currency' })
  t.throws(() => provider.readNotification(Buffer.from('no JSON')), { code: 'invalid_request' })
  await provider.close()
  t.same(ends, [])
})

t.test("an observed provider keeps the original's missing methods, getters and this", async (t) => {
  const bare = observed({ ...sandbox, methods: null, catalog: null }).provider
  const missing = ['retrieveIntent', 'findIntents', 'captureIntent', 'methods', 'catalog'] as const
  for (const name of missing) t.equal(bare[name], null, name)
  t.same(Object.keys(bare), Object.keys(sandbox))

  let isOpen = false
  const keyed = {
    ...sandbox,
    key: 'mine',
    get retrieveIntent() {
      return isOpen ? async () => null : null
    },
    async createIntent(this: { readonly key: string }) {
      return { provider_intent_id: this.key, client_secret: null }
    },
  }
  const { provider } = observed(keyed)
  t.equal(provider.retrieveIntent, null)
  isOpen = true
  t.type(provider.retrieveIntent, 'function')
  t.match(await provider.createIntent(intent()), { provider_intent_id: 'mine' })
  const { createIntent } = provider
  t.match(await createIntent(intent()), { provider_intent_id: 'mine' })
})

t.test('provider call metrics have no label values from requests', async (t) => {
  const metrics = createMetrics()
  const provider = observedProvider(sandbox, createWorkflowMetrics(metrics).providerCall)
  const planted = ['planted-key', 'planted-text']
  await provider.createIntent(intent({ idempotency_key: 'planted-key', description: 'planted-text' }))
  await provider.createIntent(intent({ provider_method_id: 'pm_card_declined' })).catch(() => undefined)
  const text = await metrics.registry.metrics()
  const count = 'provider_call_duration_seconds_count{provider="sandbox",operation="createIntent"'
  t.match(text, `${count},outcome="ok"} 1`)
  t.match(text, `${count},outcome="declined"} 1`)
  for (const word of planted) t.notMatch(text, word)
})

t.test('append metrics are counted by stream category and outcome', async (t) => {
  const log = await startEventStore(t)
  const metrics = createMetrics()
  const { append } = createWorkflowMetrics(metrics)
  const timing = { appendTimeoutMs: 2_000, appendRetryTimeoutMs: 3_000 }
  const store = createEventStore({ connectionString: log.connectionString, keys: log.keys, observe: append, timing })
  t.teardown(() => store.close())
  const stream = guestTokenStream(randomUUID())
  const own = (count: number) =>
    store.handle({
      stream,
      fold: guestTokenFold,
      decide: () =>
        Array.from({ length: count }, () => ({
          type: 'GuestTokenSeen' as const,
          data: { guest_email: 'guest@example.com', occurred_at: new Date().toISOString() },
        })),
      metadata: { correlationId: 'c', causationId: 'c', actor: 'worker' },
      assumed: newStream(guestTokenFold),
    })
  await own(2)
  // Assumes a new stream, meets a conflict, and decides again.
  await own(3)
  await log.kill()
  await t.rejects(own(1), { code: 'event_store_unavailable' })
  const text = await metrics.registry.metrics()
  const count = (outcome: string) =>
    `event_store_append_duration_seconds_count{category="guestToken",outcome="${outcome}"}`
  t.match(text, `${count('recorded')} 2`)
  t.match(text, `${count('conflict')} 1`)
  t.match(text, `${count('failed')} 1`)
  t.match(text, 'event_store_events_appended_total{category="guestToken"} 5')
  t.notMatch(text, stream, 'unbounded label values')
})
