// Observes attempts as they end: counts results, and remembers when each endpoint's last attempt ended for readiness.

import type { Sender } from '@paylog/deliveries/send/sender'
import type { Deliveries } from '@paylog/deliveries/tables/deliveries'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'

export type AttemptMetrics = {
  /** Wraps the deliveries to count every recorded attempt by its result. */
  countResults(deliveries: Deliveries): Deliveries
  /** Wraps the sender to remember when attempts end. */
  recordEnds(send: Sender): Sender
  /** When an attempt for an endpoint last ended in this process, with any result. */
  endedAt(node: string): Date | undefined
}

export function measureAttempts({ metrics, now }: { metrics: Metrics; now: () => Date }): AttemptMetrics {
  const ended = new Map<string, Date>()
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
  return {
    countResults: (deliveries) => ({
      ...deliveries,
      async finish(result) {
        const finished = await deliveries.finish(result)
        if (finished === undefined) return finished
        count({ result: result.error ?? 'succeeded' })
        if (result.status !== 'pending') countEnd({ status: result.status })
        return finished
      },
    }),
    recordEnds: (send) => async (node, attempt, signal) => {
      const next = await send(node, attempt, signal)
      ended.set(node.name, now())
      return next
    },
    endedAt: (node) => ended.get(node),
  }
}
