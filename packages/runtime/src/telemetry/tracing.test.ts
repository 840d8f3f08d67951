// biome-ignore-all lint/style/noProcessEnv: the SDK reads the environment by itself.
import { ConfigError } from '@paylog/config/environment'
import { startFakeTraceCollector } from '@paylog/testing/fakeTraceCollector'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { isTracing, tracer } from './spans.ts'
import { startTracing } from './tracing.ts'

const secret = 'hush'
const said: object[] = []
const log = { warn: (detail: object) => void said.push(detail) }

function withVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name]
  Object.assign(process.env, variables)
}
t.teardown(() => withVariables({}))

t.test('nothing is loaded unless a collector is named, or while the SDK is switched off', async (t) => {
  withVariables({})
  t.equal(await startTracing('test', log), undefined)
  withVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' })
  t.equal(await startTracing('test', log), undefined)
  t.equal(isTracing(), false)
  t.equal(tracer.startSpan('x').isRecording(), false)
})

t.test('what is malformed is told before anything starts, without its value', async (t) => {
  const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'
  const refused = async (variables: Readonly<Record<string, string>>, name: string) => {
    withVariables(variables)
    const error = await startTracing('test', log).catch((error: unknown) => error)
    t.ok(error instanceof ConfigError, name)
    t.match(String(error), name)
    t.notMatch(String(error), secret)
  }
  for (const value of [`collector:4318/${secret}`, `grpc://${secret}@collector`, secret])
    await refused({ [endpoint]: value }, endpoint)
  const given = { [endpoint]: 'http://127.0.0.1:1' }
  await refused({ ...given, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: secret }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  for (const headers of [secret, `x y=${secret}`, `x=%${secret}`])
    await refused({ ...given, OTEL_EXPORTER_OTLP_HEADERS: headers }, 'OTEL_EXPORTER_OTLP_HEADERS')
  await refused({ ...given, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL')
  t.equal(isTracing(), false)
})

t.test('a collector that is out of order costs a line in the log, and a bounded stop', async (t) => {
  const collector = await startFakeTraceCollector(t, (response, index) => {
    // The last ones get no answer at all.
    if (index < 3) response.writeHead(500).end(`out of order: ${secret}`)
  })
  withVariables({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint.replace('//', `//user:${secret}@`),
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secret}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  })
  const stop = await startTracing('test', log)
  t.equal(isTracing(), true)
  t.same(said, [])
  const begun = (count: number) => {
    for (let n = 0; n < count; n++) tracer.startSpan('x').end()
  }
  const exported = () => {
    begun(1)
    return collector.requests.length >= 3
  }
  await waitFor(exported, { what: 'three exports that fail' })
  begun(10_000)
  const before = performance.now()
  await stop?.()
  const tookMs = performance.now() - before
  t.ok(tookMs > 1_000 && tookMs < 5_000, `the stop waits for the collector, and not for long: ${tookMs} ms`)
  t.same(said, [{ reason: '500' }], 'not a line for every export')
  const sent = collector.requests.flatMap(({ body }) => body.match(/"name":"x"/g) ?? [])
  t.ok(sent.length < 4_000, `the queue has an end: ${sent.length}`)
})
