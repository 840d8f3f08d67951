// Makes one attempt of one delivery and records how it ended.
import type { Logger } from '@paylog/runtime/log'
import type { WebhookNode } from '@paylog/webhooks/nodes'
import { webhookHeaders } from '@paylog/webhooks/signing'
import type { Dispatcher as HttpDispatcher } from 'undici'
import type { AttemptRef, Deliveries } from '../deliveries/deliveries.ts'
import { nextPauseMs } from '../deliveries/retry.ts'
import type { QueuedAttempt } from '../queue/queues.ts'
import { postWebhook, type SuccessStatus } from './postWebhook.ts'

/** Makes the attempt and returns the one that follows it, if the delivery goes on. */
export type Sender = (node: WebhookNode, attempt: AttemptRef, signal: AbortSignal) => Promise<QueuedAttempt | undefined>

export function createSender(deps: {
  deliveries: Deliveries
  agent: HttpDispatcher
  successStatus: SuccessStatus
  now: () => Date
  random: () => number
  log: Logger
}): Sender {
  const { deliveries, agent, successStatus, now, random, log } = deps
  const inFlight = new Set<string>()

  async function send(node: WebhookNode, { deliveryId, attempt }: AttemptRef, signal: AbortSignal) {
    const due = await deliveries.due({ deliveryId, attempt })
    if (due === undefined) return undefined
    const at = now()
    const headers = webhookHeaders({ id: deliveryId, at, body: due.body, secrets: node.secrets })
    const { url, timeoutMs } = node
    const result = await postWebhook({ agent, url, headers, body: due.body, timeoutMs, successStatus, signal })
    const finishedAt = now()
    const ms = finishedAt.getTime() - at.getTime()
    const pauseMs =
      result.error === null ? undefined : nextPauseMs(node.retryScheduleMs, attempt - due.series_start, random())
    const status = result.error === null ? 'succeeded' : pauseMs === undefined ? 'failed' : 'pending'
    const nextAttemptAt = pauseMs === undefined ? null : new Date(finishedAt.getTime() + pauseMs)
    const first = await deliveries.finish({
      deliveryId,
      attempt,
      at,
      ms,
      ...result,
      status,
      nextAttemptAt,
      disablesNode: false,
    })
    // The URL stays out of the log: it may carry a secret.
    const about = { deliveryId, node: node.name, event: due.event, attempt, ms, httpStatus: result.httpStatus }
    if (result.error === null) log.debug(about, 'webhook delivered')
    else log.warn({ ...about, error: result.error, nextAttemptAt, status }, 'webhook attempt failed')
    return first && pauseMs !== undefined ? { deliveryId, attempt: attempt + 1, delayMs: pauseMs } : undefined
  }

  return async (node, attempt, signal) => {
    // Two jobs for one delivery can be there after a worker died; within one process it is not sent twice at a time.
    if (inFlight.has(attempt.deliveryId)) return undefined
    inFlight.add(attempt.deliveryId)
    try {
      return await send(node, attempt, signal)
    } finally {
      inFlight.delete(attempt.deliveryId)
    }
  }
}
