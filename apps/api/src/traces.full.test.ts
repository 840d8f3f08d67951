import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import {
  type CollectedSpan,
  type FakeTraceCollector,
  startFakeTraceCollector,
} from '@paylog/testing/fakeTraceCollector'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { client } from './testing/roundTripHarness.ts'

const secret = 'hush-hush'
const attemptNumber = 'paylog.delivery.attempt'
const clientsTrace = '0af7651916cd43dd8448eb211c80319c'

/** Responds 500 to the first attempt. */
const failingOnce = (t: Test) =>
  startFakeEndpoint(t, (response, index) => response.writeHead(index === 0 ? 500 : 200).end('ok'))

const tracing = ({ endpoint }: FakeTraceCollector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secret}`,
  OTEL_BSP_SCHEDULE_DELAY: '100',
})

const endpointAt = (url: string) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: `${url}?key=${secret}`,
  WEBHOOK_1_RETRY_SCHEDULE: '2s',
})

/** The span names from the root, first span first. */
function paths(spans: readonly CollectedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const path = ({ parentSpanId, service, name }: CollectedSpan): string => {
    const parent = parentSpanId === undefined ? undefined : byId.get(parentSpanId)
    const before = parent ? `${path(parent)} > ` : parentSpanId === undefined ? '' : 'unknown > '
    return `${before}${service.replace('paylog-', '')}: ${name}`
  }
  return spans.map(path).sort()
}

t.test('a payment is one trace from the request to the webhook that succeeds at its second attempt', async (t) => {
  const [collector, endpoint] = await Promise.all([startFakeTraceCollector(t), failingOnce(t)])
  const system = await startSystem(t, { ...tracing(collector), ...endpointAt(endpoint.url) })
  const response = await fetch(`${system.baseUrl}/payments/intents?session_id=${secret}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-session-id': 'demo-session',
      traceparent: `00-${clientsTrace}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ total_cents: 2599, currency: 'EUR' }),
  })
  t.equal(response.status, 201)
  const { data } = (await response.json()) as { data: { id: string; provider_intent_id: string } }
  const paymentSpans = () => {
    const request = collector.spans.find(({ name }) => name === 'POST /payments/intents')
    return collector.spans.filter(({ traceId }) => traceId === request?.traceId)
  }
  const attempt = (number: number) => paymentSpans().find(({ attributes }) => attributes[attemptNumber] === number)
  await waitFor(() => attempt(1), { what: 'the span of the first attempt', timeoutMs: 20_000 })
  // The trace context is in the row of the delivery, so that another process continues it.
  await system.services.worker.kill()
  await system.services.worker.start()
  await waitFor(() => attempt(2), { what: 'the span of the second attempt', timeoutMs: 20_000 })
  const spans = paymentSpans()
  const request = 'api: POST /payments/intents'
  const dispatch = `${request} > api: append payment > worker: dispatch ProviderIntentCreated`
  t.same(paths(spans), [
    request,
    `${request} > api: append payment`,
    `${request} > api: append payment`,
    dispatch,
    `${dispatch} > worker: deliver to 1`,
    `${dispatch} > worker: deliver to 1`,
    `${request} > api: sandbox createIntent`,
  ])
  t.match(
    spans.find(({ name }) => name === 'POST /payments/intents'),
    {
      kind: 2,
      parentSpanId: undefined,
      isFailed: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/payments/intents',
        'http.response.status_code': 201,
        'paylog.correlation_id': response.headers.get('x-request-id'),
      },
    },
  )
  const delivery = { 'paylog.delivery.id': endpoint.received[0]?.id }
  const [failed, status] = ['error.type', 'http.response.status_code']
  t.match(attempt(1), {
    kind: 3,
    isFailed: true,
    attributes: { ...delivery, [failed]: 'unexpected_status', [status]: 500 },
  })
  t.match(attempt(2), { kind: 3, isFailed: false, attributes: { ...delivery, [status]: 200 } })
  t.notOk(
    collector.spans.some(({ traceId }) => traceId === clientsTrace),
    'a traceparent of the client is ignored',
  )
  const spansText = collector.requests.map(({ body }) => body).join('\n')
  t.notMatch(spansText, secret, 'spans contain no credential and no URL')
  t.ok(
    collector.requests.every(({ url, headers }) => url === '/v1/traces' && headers['x-key'] === secret),
    'the exporter sends its headers',
  )

  const store = createEventStore({ connectionString: system.eventStoreUrl, keys: system.keys })
  t.teardown(() => store.close())
  const [first, second] = await store.readStream(paymentStream(data.id))
  const appends = spans.filter(({ name }) => name === 'append payment').map(({ spanId }) => spanId)
  for (const event of [first, second]) {
    const [, traceId, spanId = ''] = event?.metadata.traceparent?.split('-') ?? []
    t.equal(traceId, spans[0]?.traceId)
    t.ok(appends.includes(spanId), 'an event has the span id of its append')
  }

  await client(system).settle(data.provider_intent_id)
  const settled =
    'api: POST /webhooks/sandbox > api: append payment > worker: dispatch PaymentSucceeded > worker: deliver to 1'
  await waitFor(() => paths(collector.spans).includes(settled), {
    what: 'a separate trace of the provider notification',
    timeoutMs: 20_000,
  })
})
