import { DomainError } from '@paylog/domain/errors'
import { Counter } from 'prom-client'
import t from 'tap'
import { createHttp } from '../http/http.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'

t.test('request durations are measured by route, on the whole server', async (t) => {
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

t.test('commands are counted by operation and outcome, without client-provided labels', async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const metrics = createMetrics()
  await http.register(metrics.plugin)
  const body = { type: 'object', required: ['total'], properties: { total: { type: 'integer' } } }
  http.post<{ Params: { id: string } }>(
    '/things/:id',
    { schema: { operationId: 'makeThing', body } },
    async (request) => {
      if (request.params.id === 'lost') throw new DomainError('not_found', 'not found')
      if (request.params.id === 'bug') throw new Error('a mistake')
      return {}
    },
  )
  http.get('/things', { schema: { operationId: 'listThings' } }, async () => [])
  const make = (id: string, payload: object) => http.inject({ method: 'POST', url: `/things/${id}`, payload })
  await make('planted-1', { total: 1 })
  await make('planted-2', { total: 1 })
  await make('lost', { total: 1 })
  await make('bug', { total: 1 })
  await make('planted-3', { total: 'planted-4' })
  await http.inject({ method: 'POST', url: '/planted-5' })
  await http.inject('/things')
  const { payload } = await http.inject('/metrics')
  t.same(payload.match(/^commands_total.*$/gm)?.sort(), [
    'commands_total{command="makeThing",outcome="internal_error"} 1',
    'commands_total{command="makeThing",outcome="invalid_request"} 1',
    'commands_total{command="makeThing",outcome="not_found"} 1',
    'commands_total{command="makeThing",outcome="ok"} 2',
  ])
  t.notMatch(payload, 'planted')
})

t.test('a gauge shows the values of the current scrape only, a counter accumulates', async (t) => {
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

t.test('gauges read their rows at each scrape, and are left out when the read fails', async (t) => {
  const metrics = createMetrics()
  const rows = [
    { node: '1', pending: 3, age: undefined },
    { node: '2', pending: 0, age: 7 },
  ]
  let isBroken = false
  metrics.gauges<(typeof rows)[number]>({
    readRows: async () => {
      if (isBroken) throw new Error('the database is down')
      return rows
    },
    labelName: 'node',
    labelOf: ({ node }) => node,
    figures: [
      { name: 'pending', help: 'x', measure: ({ pending }) => pending },
      { name: 'age_seconds', help: 'x', measure: ({ age }) => age },
    ],
    log: createLog({ app: 'test', level: 'silent' }),
  })
  const page = await metrics.registry.metrics()
  t.match(page, 'pending{node="1"} 3')
  t.match(page, 'pending{node="2"} 0')
  t.match(page, 'age_seconds{node="2"} 7')
  t.notMatch(page, 'age_seconds{node="1"}')
  isBroken = true
  const without = await metrics.registry.metrics()
  t.notMatch(without, 'pending{')
  t.match(without, 'process_resident_memory_bytes')
})

t.test('metrics of one registry are not visible in another', async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const metrics = createMetrics()
  const other = createMetrics()
  new Counter({ name: 'deliveries_total', help: 'x', registers: [metrics.registry] }).inc(3)
  http.register(metrics.plugin)
  t.match((await http.inject('/metrics')).payload, 'deliveries_total 3')
  t.notMatch(await other.registry.metrics(), 'deliveries_total')
})

t.test('concurrent scrapes share one collection', async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const metrics = createMetrics()
  http.register(metrics.plugin)
  t.teardown(() => http.close())
  let reads = 0
  const collect = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return [{ labels: {}, value: ++reads }]
  }
  metrics.gauge({ name: 'reads_total', help: 'x', labelNames: [], collect })
  const scrape = async () => (await http.inject('/metrics')).payload
  for (const text of await Promise.all(Array.from({ length: 50 }, scrape))) t.match(text, /^reads_total 1$/m)
  t.match(await scrape(), /^reads_total 2$/m)
})
