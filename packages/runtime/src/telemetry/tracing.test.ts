// biome-ignore-all lint/style/noProcessEnv: the SDK reads the environment by itself.

import { startFakeTraceCollector } from '@paylog/testing/fakeTraceCollector'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { ConfigError } from '../config/environment.ts'
import { isTracing, tracer } from './spans.ts'
import { startTracing } from './tracing.ts'

const secret = 'hush'
const logged: object[] = []
const log = { warn: (detail: object) => void logged.push(detail) }

function withVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name]
  Object.assign(process.env, variables)
}
t.teardown(() => withVariables({}))

t.test('startTracing loads nothing without a collector or with OTEL_SDK_DISABLED', async (t) => {
  withVariables({})
  t.equal(await startTracing('test', log), undefined)
  withVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' })
  t.equal(await startTracing('test', log), undefined)
  t.equal(isTracing(), false)
  t.equal(tracer.startSpan('x').isRecording(), false)
})

t.test('startTracing rejects malformed variables by name, without their values', async (t) => {
  const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'
  const assertRejected = async (variables: Readonly<Record<string, string>>, name: string) => {
    withVariables(variables)
    const error = await startTracing('test', log).catch((error: unknown) => error)
    t.ok(error instanceof ConfigError, name)
    t.match(String(error), name)
    t.notMatch(String(error), secret)
  }
  for (const value of [`collector:4318/${secret}`, `grpc://${secret}@collector`, secret])
    await assertRejected({ [endpoint]: value }, endpoint)
  const given = { [endpoint]: 'http://127.0.0.1:1' }
  await assertRejected({ ...given, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: secret }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  for (const headers of [secret, `x y=${secret}`, `x=%${secret}`])
    await assertRejected({ ...given, OTEL_EXPORTER_OTLP_HEADERS: headers }, 'OTEL_EXPORTER_OTLP_HEADERS')
  await assertRejected({ ...given, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL')
  t.equal(isTracing(), false)
})

t.test('a failing collector causes one log line and a bounded stop', async (t) => {
  const collector = await startFakeTraceCollector(t, (response, index) => {
    // The last exports get no response at all.
    if (index < 3) response.writeHead(500).end(`out of order: ${secret}`)
  })
  withVariables({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint.replace('//', `//user:${secret}@`),
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secret}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  })
  const stop = await startTracing('test', log)
  t.equal(isTracing(), true)
  t.same(logged, [])
  const createSpans = (count: number) => {
    for (let n = 0; n < count; n++) tracer.startSpan('x').end()
  }
  const exported = () => {
    createSpans(1)
    return collector.requests.length >= 3
  }
  await waitFor(exported, { what: 'three failed exports' })
  createSpans(10_000)
  const before = performance.now()
  await stop?.()
  const tookMs = performance.now() - before
  t.ok(tookMs > 1_000 && tookMs < 5_000, `the stop waits for the collector, and not for long: ${tookMs} ms`)
  t.same(logged, [{ reason: '500' }], 'one line for all exports')
  const sent = collector.requests.flatMap(({ body }) => body.match(/"name":"x"/g) ?? [])
  t.ok(sent.length < 4_000, `the queue has an end: ${sent.length}`)
})
