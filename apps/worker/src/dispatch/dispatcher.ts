// Room: worker. From the log to the deliveries table: maps each batch and records it together with its position.
import type { LogPosition, Recorded } from '@paylog/event-store/codec'
import type { Logger } from '@paylog/runtime/log'
import type { WebhookNode } from '@paylog/webhooks/nodes'
import { outboundMessages } from '@paylog/webhooks/outbound'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Queues } from '../queue/queues.ts'

export const webhookSubscription = 'webhooks'
export const webhookStreamPrefixes = ['payment-', 'providerEvent-'] as const

export type Dispatcher = {
  /** The position to go on from. */
  start(): Promise<LogPosition | undefined>
  /** @throws StaleCheckpointError when another runner took over */
  handle(batch: { readonly events: readonly Recorded[]; readonly position: LogPosition }): Promise<void>
}

/** Maps for the nodes that are configured now; one that is configured later is told of what happens from then on. */
export function createDispatcher(deps: {
  deliveries: Deliveries
  queues: Pick<Queues, 'enqueue'>
  nodes: readonly WebhookNode[]
  projectId: string
  now: () => Date
  log: Logger
}): Dispatcher {
  const { deliveries, queues, nodes, projectId, now, log } = deps
  let position: LogPosition | undefined

  return {
    async start() {
      position = await deliveries.checkpoint(webhookSubscription)
      return position
    },
    async handle(batch) {
      const messages = batch.events.flatMap((event) => outboundMessages(event, nodes, { projectId }))
      const recorded = await deliveries.record({
        name: webhookSubscription,
        from: position,
        to: batch.position,
        messages,
        at: now(),
      })
      position = batch.position
      for (const [node, mine] of Map.groupBy(recorded, (message) => message.node)) {
        const jobs = mine.map(({ id }) => ({ deliveryId: id, attempt: 1, delayMs: 0 }))
        // The rows are safe already: without its queue the sweep brings them in, and the log need not wait for it.
        await queues.enqueue(node, jobs).catch((error: unknown) => {
          log.warn({ err: error, node, deliveries: jobs.length }, 'could not queue deliveries, the sweep will')
        })
      }
    },
  }
}
