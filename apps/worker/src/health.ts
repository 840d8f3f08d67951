// The worker's health page: readiness and metrics of the webhook deliveries.

import { createHttp } from '@paylog/runtime/http/http'
import { type CheckDetails, createHealth } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { createBacklogCheck, type EndpointBacklog, readBacklog } from '@paylog/webhooks/deliveries/backlog'
import type { WakeUps } from '@paylog/webhooks/deliveries/queue/wakeUps'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { Pool } from 'pg'
import type { TrustedClock } from './trustedClock.ts'

/**
 * Serves `/health/live`, `/health/ready` and `/metrics` until the app stops.
 * @param options `readers` are the checks of the log subscriptions, by name; `endedAt` is when an attempt for an endpoint
 *   last ended in this process
 * @returns its URL
 */
export async function startHealthPage(options: {
  readonly host: string
  readonly port: number
  readonly pool: Pool
  readonly endpoints: readonly WebhookEndpoint[]
  readonly wakeUps: Pick<WakeUps, 'waiting'>
  readonly clock: Pick<TrustedClock, 'differing'>
  readonly readers: Readonly<Record<string, () => Promise<CheckDetails>>>
  readonly endedAt: (endpoint: string) => Date | undefined
  readonly metrics: Metrics
  readonly now: () => Date
  readonly lifecycle: Lifecycle
  readonly log: Logger
}): Promise<string> {
  const { host, port, pool, endpoints, wakeUps, clock, readers, endedAt, metrics, now, lifecycle, log } = options
  const health = createHealth()
  health.check('postgres', async () => {
    await pool.query('select 1')
    return {}
  })
  health.check('queue', async () => ({ waiting: await wakeUps.waiting() }))
  health.check('clock', async () => ({ differs_from: clock.differing() }))
  for (const [name, check] of Object.entries(readers)) health.check(name, check)
  health.check('deliveries', createBacklogCheck({ pool, endpoints, endedAt, now }))
  addGauges(metrics, () => readBacklog(pool, endpoints.map(nameOf)), log)
  addReaderGauge(metrics, readers, log)
  const http = createHttp({ log })
  await http.register(health.plugin)
  await http.register(metrics.plugin)
  lifecycle.add('health page', () => http.close())
  return await http.listen({ host, port })
}

const nameOf = ({ name }: WebhookEndpoint) => name

function addReaderGauge(metrics: Metrics, readers: Readonly<Record<string, () => Promise<CheckDetails>>>, log: Logger) {
  metrics.gauges({
    readRows: () =>
      Promise.all(
        Object.entries(readers).map(async ([reader, check]) => {
          // A log that cannot be read is no reason to stop.
          const details: Readonly<Record<string, unknown>> = await check().catch(() => ({}))
          return { reader, isStopped: details.stopped === true }
        }),
      ),
    labelName: 'reader',
    labelOf: ({ reader }) => reader,
    figures: [
      {
        name: 'log_reader_stopped',
        help: 'Whether the reader has stopped, because the log is not that of its checkpoint',
        measure: ({ isStopped }) => (isStopped ? 1 : 0),
      },
    ],
    log,
  })
}

function addGauges(metrics: Metrics, readRows: () => Promise<readonly EndpointBacklog[]>, log: Logger): void {
  metrics.gauges<EndpointBacklog>({
    readRows,
    labelName: 'node',
    labelOf: ({ endpoint }) => endpoint,
    figures: [
      {
        name: 'webhook_deliveries_pending',
        help: 'Unfinished deliveries of enabled endpoints, counted up to 10000',
        measure: (row) => (row.is_disabled ? 0 : row.pending),
      },
      {
        name: 'webhook_deliveries_held',
        help: 'Deliveries of paused endpoints, kept until the endpoint is enabled, counted up to 10000',
        measure: (row) => (row.is_disabled ? row.pending : 0),
      },
      {
        name: 'webhook_oldest_undelivered_seconds',
        help: 'Age of the oldest unfinished delivery',
        measure: (row) => Math.max(row.oldest_undelivered_seconds ?? 0, 0),
      },
      {
        name: 'webhook_overdue_seconds',
        help: 'How long the oldest due attempt has been due',
        measure: (row) => (row.is_disabled ? 0 : row.overdue_seconds),
      },
    ],
    log,
  })
}
