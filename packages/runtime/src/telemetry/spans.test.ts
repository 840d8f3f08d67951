// biome-ignore-all lint/style/noProcessEnv: the SDK reads the environment by itself.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { DomainError } from '@paylog/domain/errors'
import { type CollectedSpan, startFakeTraceCollector } from '@paylog/testing/fakeTraceCollector'
import t from 'tap'
import { createHttp } from '../http/http.ts'
import { createHealth } from '../process/health.ts'
import { createLog } from './log.ts'
import { inSpan } from './spans.ts'
import { startTracing } from './tracing.ts'

const secret = 'hush'
type Line = Readonly<Record<string, unknown>>

t.test('requests are traced by route with their child spans, and without their URLs', async (t) => {
  const collector = await startFakeTraceCollector(t)
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`, OTEL_SERVICE_NAME: 'shop' }
  Object.assign(process.env, variables)
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
  const lines: Line[] = []
  const log = createLog({ app: 'test', level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const stop = await startTracing('test', log)
  const http = createHttp({ log })
  await http.register(createHealth().plugin)
  http.post<{ Params: { id: string } }>('/things/:id', async (request) => {
    await inSpan({ name: 'work' }, async () => request.log.info('at work'))
    if (request.params.id === 'bug') throw new Error(secret)
    if (request.params.id === 'away') throw new DomainError('event_store_unavailable', 'unavailable')
    return {}
  })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const post = async (path: string) => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const headers = { 'content-type': 'application/json', authorization: `Token ${secret}`, traceparent }
    const arrived = once(http.server, 'request')
    const outgoing = request(`${url}${path}`, { method: 'POST', headers })
    outgoing.flushHeaders()
    // The body arrives in a separate packet, as a large one does, which would lose the active context.
    await arrived
    outgoing.end(JSON.stringify({ secret }))
    const [response]: IncomingMessage[] = await once(outgoing, 'response')
    if (response) await text(response)
    return response?.headers['x-request-id']
  }
  const id = await post(`/things/1?token=${secret}`)
  await post('/things/bug')
  await post('/things/away')
  await post(`/${secret}`)
  await fetch(`${url}/health/live`)
  await http.close()
  await stop?.()

  const of = (name: string) => collector.spans.filter((span) => span.name === name)
  const requests = of('POST /things/:id')
  t.same(
    requests.map(({ isFailed, attributes }) => [
      attributes['http.response.status_code'],
      isFailed,
      attributes['error.type'],
    ]),
    [
      [200, false, undefined],
      [500, true, 'internal_error'],
      [503, true, 'event_store_unavailable'],
    ],
  )
  t.match(of('POST'), [{ isFailed: false, attributes: { 'http.response.status_code': 404 } }])
  t.equal(collector.spans.length, 7, 'three requests with their child spans, one to an unknown path, and no probe')
  t.same(
    of('work').map(({ parentSpanId }) => parentSpanId),
    requests.map(({ spanId }) => spanId),
  )
  t.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 4, 'one new trace per request')
  t.ok(collector.spans.every(({ service }) => service === 'shop'))
  t.notMatch(collector.requests.map(({ body }) => body).join(''), secret)

  const first: CollectedSpan | undefined = requests[0]
  t.same(first?.attributes['paylog.correlation_id'], id)
  const ofFirst = lines.filter(({ requestId }) => requestId === id)
  t.same(
    ofFirst.map(({ msg, traceId }) => [msg, traceId]),
    [
      ['at work', first?.traceId],
      ['request', first?.traceId],
    ],
  )
})
