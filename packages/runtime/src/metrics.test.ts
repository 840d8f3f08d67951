import { Counter } from 'prom-client'
import t from 'tap'
import { createHttp } from './http.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'

t.test('measures every request by its route, wherever on the server that was registered', async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const metrics = createMetrics()
  http.register(async (scope) => {
    scope.get('/payments/:id', async () => ({}))
  })
  http.register(metrics.plugin)
  await http.inject('/payments/1')
  await http.inject('/payments/2')
  await http.inject('/scanned-1')
  await http.inject('/scanned-2')
  const { payload, headers } = await http.inject('/metrics')
  t.match(headers['content-type'], 'text/plain')
  t.match(payload, 'http_request_duration_seconds_count{method="GET",route="/payments/:id",status="200"} 2')
  t.match(payload, 'http_request_duration_seconds_count{method="any",route="unknown",status="404"} 2')
  t.notMatch(payload, 'scanned')
  t.match(payload, 'process_resident_memory_bytes')
})

t.test('a gauge shows what it is told at each scrape and no more, a counter what happened', async (t) => {
  const metrics = createMetrics()
  let pending = [{ labels: { node: '1' }, value: 3 }]
  metrics.gauge({ name: 'pending', help: 'x', labelNames: ['node'], collect: async () => pending })
  const count = metrics.counter({ name: 'attempts_total', help: 'x', labelNames: ['result'] })
  count({ result: 'timeout' })
  count({ result: 'timeout' })
  const first = await metrics.registry.metrics()
  t.match(first, 'pending{node="1"} 3')
  t.match(first, 'attempts_total{result="timeout"} 2')
  pending = [{ labels: { node: '2' }, value: 4 }]
  const second = await metrics.registry.metrics()
  t.match(second, 'pending{node="2"} 4')
  t.notMatch(second, 'node="1"')
})

t.test('serves what an app registers, apart from other registries in the process', async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const metrics = createMetrics()
  const other = createMetrics()
  new Counter({ name: 'deliveries_total', help: 'x', registers: [metrics.registry] }).inc(3)
  http.register(metrics.plugin)
  t.match((await http.inject('/metrics')).payload, 'deliveries_total 3')
  t.notMatch(await other.registry.metrics(), 'deliveries_total')
})
