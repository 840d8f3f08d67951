// Starts the sending of deliveries, and the wake-ups of other workers.

import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { installationId, openQueueStore } from '@paylog/webhooks/deliveries/queue/queueStore'
import { openWakeUps, takeWakeUps, type WakeUps } from '@paylog/webhooks/deliveries/queue/wakeUps'
import type { BodyOf } from '@paylog/webhooks/deliveries/send/bodies'
import { createDeliverer, type Deliverer } from '@paylog/webhooks/deliveries/send/deliverer'
import { createEndpointAgent } from '@paylog/webhooks/deliveries/send/endpointAgent'
import { createSender } from '@paylog/webhooks/deliveries/send/sender'
import type { Deliveries } from '@paylog/webhooks/deliveries/tables/deliveries'
import { createPartitions } from '@paylog/webhooks/deliveries/tables/partitions'
import type { AttemptResult } from '@paylog/webhooks/deliveries/tables/results'
import type { Pool } from 'pg'
import type { WorkerConfig } from './config.ts'

/** Sends what is due until the app stops. @throws when the tables are missing */
export async function startDelivering(options: {
  readonly config: WorkerConfig
  readonly pool: Pool
  readonly deliveries: Deliveries
  readonly bodyOf: BodyOf
  readonly metrics: Metrics
  readonly now: () => Date
  readonly lifecycle: Lifecycle
  readonly log: Logger
}): Promise<{ readonly deliverer: Deliverer; readonly wakeUps: WakeUps }> {
  const { config, pool, deliveries, bodyOf, metrics, now, lifecycle, log } = options
  const { endpoints, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, WEBHOOK_SUCCESS_STATUS: successStatus } = config
  const { stopping, givingUp } = lifecycle
  const installation = await installationId(pool)
  const { store, close } = await openQueueStore({ databaseUrl, redisUrl, installation, log })
  lifecycle.add('queue store', close)
  const wakeUps = openWakeUps({ store, log })
  lifecycle.add('wake-ups', wakeUps.close)
  await createPartitions(pool)

  const agent = createEndpointAgent(config.WEBHOOK_ALLOWED_PRIVATE_CIDRS)
  lifecycle.add('endpoint connections', () => agent.destroy())
  const onRecorded = createAttemptCounter(metrics)
  const sender = createSender({ deliveries, bodyOf, agent, successStatus, now, random: Math.random, onRecorded, log })
  const scheduleWakeUp = wakeUps.schedule
  const deliverer = createDeliverer({ deliveries, endpoints, sender, scheduleWakeUp, givingUp, now, log })
  lifecycle.add('queue worker', takeWakeUps({ store, wake: deliverer.wake, log }).close)
  lifecycle.add('deliveries', deliverer.close, deliverer.underWay)
  deliverer.start(stopping)
  return { deliverer, wakeUps }
}

/** Counts the results of attempts. @returns a function to call with every recorded result */
function createAttemptCounter(metrics: Metrics): (result: AttemptResult) => void {
  const count = metrics.counter({
    name: 'webhook_attempts_total',
    help: 'Recorded webhook attempts, by result: succeeded, or the failure class',
    labelNames: ['result'],
  })
  const countEnd = metrics.counter({
    name: 'webhook_deliveries_finished_total',
    help: 'Finished deliveries: succeeded, or failed after the last retry',
    labelNames: ['status'],
  })
  // Start at zero, or Prometheus would miss the first increase.
  for (const status of ['succeeded', 'failed']) countEnd({ status }, 0)
  return ({ error, nextAttemptAt }) => {
    count({ result: error ?? 'succeeded' })
    if (nextAttemptAt === null) countEnd({ status: error === null ? 'succeeded' : 'failed' })
  }
}
