// Watches attempts as they end: for the metrics, and to tell a node that works from one that stands still.

import type { Sender } from '@paylog/deliveries/send/sender'
import type { Deliveries } from '@paylog/deliveries/tables/deliveries'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'

export type AttemptMetrics = {
  /** The same deliveries, with every recorded attempt counted by its result. */
  counted(deliveries: Deliveries): Deliveries
  /** The same sender, with the times noted. */
  noted(send: Sender): Sender
  /** When an attempt of a node last ended in this process, whatever its result. */
  endedAt(node: string): Date | undefined
}

export function measureAttempts({ metrics, now }: { metrics: Metrics; now: () => Date }): AttemptMetrics {
  const ended = new Map<string, Date>()
  const count = metrics.counter({
    name: 'webhook_attempts_total',
    help: 'Recorded attempts to deliver a webhook, by result: succeeded, or the class of the failure',
    labelNames: ['result'],
  })
  const countEnd = metrics.counter({
    name: 'webhook_deliveries_finished_total',
    help: 'Deliveries that ended: succeeded, or failed with all attempts used up',
    labelNames: ['status'],
  })
  // From zero on, or Prometheus would take no notice of the first one.
  for (const status of ['succeeded', 'failed']) countEnd({ status }, 0)
  return {
    counted: (deliveries) => ({
      ...deliveries,
      async finish(result) {
        const finished = await deliveries.finish(result)
        if (finished === undefined) return finished
        count({ result: result.error ?? 'succeeded' })
        if (result.status !== 'pending') countEnd({ status: result.status })
        return finished
      },
    }),
    noted: (send) => async (node, attempt, signal) => {
      const next = await send(node, attempt, signal)
      ended.set(node.name, now())
      return next
    },
    endedAt: (node) => ended.get(node),
  }
}
