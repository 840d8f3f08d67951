// Prometheus metrics of one process.
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { metricsSchema } from '../http/openApiSchemas.ts'
import { shared } from '../process/shared.ts'
import type { Logger } from './log.ts'

export type Metrics = {
  /** For an app's own metrics. */
  readonly registry: Registry
  readonly plugin: FastifyPluginAsync
  /** Adds a gauge that is read at every scrape: `collect` returns a value per label set. */
  gauge(options: MetricOptions & { readonly collect: () => Promise<readonly LabelledValue[]> }): void
  /** Adds gauges with the same rows. Rows that cannot be read are left out, and the error is logged. */
  gauges<Row>(options: RowGauges<Row>): void
  /** Adds a counter. @returns a function that adds `count`, by default 1 */
  counter(options: MetricOptions): (labels: Labels, count?: number) => void
  /** Adds a histogram of durations. @returns a function that records one, in seconds */
  durations(options: MetricOptions): (labels: Labels, seconds: number) => void
}

type Labels = Readonly<Record<string, string>>
type MetricOptions = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] }

export type RowGauges<Row> = {
  readonly readRows: () => Promise<readonly Row[]>
  /** The label that identifies a row, such as `node`; without it there is one row. */
  readonly labelName?: string
  readonly labelOf?: (row: Row) => string
  /** A row without a value is left out. */
  readonly figures: readonly {
    readonly name: string
    readonly help: string
    readonly measure: (row: Row) => number | undefined
  }[]
  readonly log: Pick<Logger, 'warn'>
}
export type LabelledValue = { readonly labels: Labels; readonly value: number }

/** Pauses that a request notices are a few milliseconds long. */
const gcDurationBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]
/** A timer of this interval measures the event loop. The default of 10 ms takes half a percent of a core in an idle process. */
const eventLoopMonitoringPrecision = 100
const durationBuckets = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]

/**
 * A registry with Node's default metrics, served at `GET /metrics`. The plugin also measures every request of the whole
 * server by method, route pattern and status; unknown paths share one label, or a scanner could create any number of them.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, gcDurationBuckets, eventLoopMonitoringPrecision })
  const counter: Metrics['counter'] = (options) => {
    const registered = new Counter({ ...options, registers: [registry] })
    return (labels, count = 1) => registered.inc({ ...labels }, count)
  }
  const durations: Metrics['durations'] = (options) => {
    const registered = new Histogram({ ...options, buckets: durationBuckets, registers: [registry] })
    return (labels, seconds) => registered.observe({ ...labels }, seconds)
  }
  const observeRequest = durations({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
  })
  const countCommand = counter({
    name: 'commands_total',
    help: 'Write requests by API operation and outcome (ok or the error code)',
    labelNames: ['command', 'outcome'],
  })

  async function plugin(http: FastifyInstance): Promise<void> {
    http.addHook('onResponse', (request, reply, done) => {
      const { url: route, schema } = request.routeOptions
      const operation = schema && 'operationId' in schema ? schema.operationId : undefined
      if (typeof operation === 'string' && request.method !== 'GET' && request.method !== 'HEAD')
        countCommand({ command: operation, outcome: request.errorCode || 'ok' })
      const method = route === undefined ? 'any' : request.method
      const labels = { method, route: route ?? 'unknown', status: String(reply.statusCode) }
      observeRequest(labels, reply.elapsedTime / 1_000)
      done()
    })
    // Some gauges are read from a database, so concurrent scrapes share one collection.
    const collect = shared(() => registry.metrics())
    http.get('/metrics', { config: { isForOperators: true }, schema: metricsSchema }, async (_request, reply) => {
      reply.type(registry.contentType)
      return await collect()
    })
  }
  // `skip-override`, which fastify-plugin sets too, applies the hook to the whole server instead of a plugin scope.
  const gauge: Metrics['gauge'] = ({ collect, ...options }) => {
    const registered: Gauge = new Gauge({
      ...options,
      registers: [registry],
      async collect() {
        const values = await collect()
        registered.reset()
        for (const { labels, value } of values) registered.set({ ...labels }, value)
      },
    })
  }
  return {
    registry,
    plugin: Object.assign(plugin, { [Symbol.for('skip-override')]: true }),
    gauge,
    gauges({ readRows, labelName = '', labelOf, figures, log }) {
      for (const { name, help, measure } of figures) {
        const collect = async () => {
          // A database failure must not affect the other metrics.
          const rows = await readRows().catch((error: unknown) => {
            log.warn({ err: error, metric: name }, 'a metric could not be read')
            return []
          })
          return rows.flatMap((row) => {
            const value = measure(row)
            return value === undefined ? [] : [{ labels: labelOf ? { [labelName]: labelOf(row) } : {}, value }]
          })
        }
        gauge({ name, help, labelNames: labelOf ? [labelName] : [], collect })
      }
    },
    counter,
    durations,
  }
}
