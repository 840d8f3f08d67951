// Counts the results of attempts.

import type { AttemptResult } from '@paylog/deliveries/tables/results'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'

/** @returns a function to call with every recorded result */
export function createAttemptCounter(metrics: Metrics): (result: AttemptResult) => void {
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
