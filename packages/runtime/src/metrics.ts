// Prometheus metrics of one process.
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  /** Where an app registers metrics of its own. */
  readonly registry: Registry
  readonly plugin: FastifyPluginAsync
  /** Adds a figure that is looked up at every scrape: `collect` gives it for each set of labels. */
  gauge(options: MetricOptions & { readonly collect: () => Promise<readonly LabelledValue[]> }): void
  /** Adds a count of things that happened. @returns adds one */
  counter(options: MetricOptions): (labels: Labels) => void
}

type Labels = Readonly<Record<string, string>>
type MetricOptions = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] }
export type LabelledValue = { readonly labels: Labels; readonly value: number }

/**
 * A registry with Node's default metrics, served at `GET /metrics`. Registering the plugin also measures every request of
 * the whole server, by method, route pattern and status; unknown paths share one label, or a scanner could grow it forever.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers: [registry],
  })

  async function plugin(http: FastifyInstance): Promise<void> {
    http.addHook('onResponse', async (request, reply) => {
      const { url: route } = request.routeOptions
      durations.observe(
        { method: route === undefined ? 'any' : request.method, route: route ?? 'unknown', status: reply.statusCode },
        reply.elapsedTime / 1_000,
      )
    })
    http.get('/metrics', async (_request, reply) => {
      reply.type(registry.contentType)
      return registry.metrics()
    })
  }
  // Fastify gives every plugin a scope of its own; this mark, which is what fastify-plugin sets, puts the hook on the whole server.
  return {
    registry,
    plugin: Object.assign(plugin, { [Symbol.for('skip-override')]: true }),
    gauge({ collect, ...options }) {
      const gauge: Gauge = new Gauge({
        ...options,
        registers: [registry],
        async collect() {
          const values = await collect()
          gauge.reset()
          for (const { labels, value } of values) gauge.set({ ...labels }, value)
        },
      })
    },
    counter(options) {
      const counter = new Counter({ ...options, registers: [registry] })
      return (labels) => counter.inc({ ...labels })
    },
  }
}
