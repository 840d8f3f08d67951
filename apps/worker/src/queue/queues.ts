// The job queues, one per node: what to do next, kept as a cache of the deliveries table.
import type { Logger } from '@paylog/runtime/log'
import type { WebhookNode } from '@paylog/webhooks/nodes'
import { Queue } from 'bullmq'
import type { AttemptRef } from '../deliveries/deliveries.ts'
import { producerBackend } from './backend.ts'
import type { QueueStore } from './queueStore.ts'

export type QueuedAttempt = AttemptRef & { readonly delayMs: number }

export type Queues = ReturnType<typeof createQueues>

/** With this many jobs waiting nothing is gained by more: the table keeps the rest, and the queue stays bounded. */
export const enoughWaiting = 2_000

/** A queue that does not answer is as good as lost. */
const enqueueTimeoutMs = 2_000
const keptEvents = 100
/** A bulk insert has a fixed price that pays off only from here on. */
const bulkFrom = 4

/** The queue's name; no colon, which BullMQ refuses. */
export function queueName(node: string): string {
  return `webhooks-${node}`
}

/** The job's id: with it a second job for the same attempt is none. */
export function jobId({ deliveryId, attempt }: AttemptRef): string {
  return `${deliveryId}-${attempt}`
}

export function createQueues(options: { store: QueueStore; nodes: readonly WebhookNode[]; log: Logger }) {
  const { store, nodes, log } = options
  const queues = new Map(nodes.map(({ name }) => [name, openQueue(store, name, log)]))
  const queueOf = (node: string) => {
    const queue = queues.get(node)
    if (queue === undefined) throw new Error(`No queue for node ${node}`)
    return queue
  }

  return {
    /** Adds a job for each attempt that has none. @throws when the queue does not take them within 2 s */
    async enqueue(node: string, attempts: readonly QueuedAttempt[]): Promise<void> {
      const queue = queueOf(node)
      const jobs = attempts.map((attempt) => job(attempt, jobId(attempt)))
      await within(enqueueTimeoutMs, add(queue, jobs))
    },

    /** How many jobs could be taken right now. */
    async waiting(node: string): Promise<number> {
      return await within(enqueueTimeoutMs, queueOf(node).getWaitingCount())
    },

    /** Jobs that a worker holds at this moment, and the name of that worker. */
    async held(node: string, limit: number): Promise<{ attempt: AttemptRef; worker: string }[]> {
      const jobs = await within(enqueueTimeoutMs, queueOf(node).getActive(0, limit - 1))
      return jobs.flatMap(({ data, processedBy }) =>
        processedBy === undefined ? [] : [{ attempt: data, worker: processedBy }],
      )
    },

    /**
     * Whether a worker of this name is connected to the node's queue; nothing when that cannot be known. A Redis that
     * lists no clients is told of by an entry without a name; and who asks has workers of its own, so no entry at all
     * does not mean that there are none.
     */
    async liveWorkers(node: string): Promise<((worker: string) => boolean) | undefined> {
      const clients = await within(enqueueTimeoutMs, queueOf(node).getWorkers())
      const names = clients.flatMap(({ rawname }) => rawname ?? [])
      return names.length === 0 ? undefined : (worker) => names.some((name) => name.endsWith(`:w:${worker}`))
    },

    /** Adds a second job, under an id of its own, for an attempt whose first job is held by a dead worker. */
    async takeOver(node: string, attempt: AttemptRef, id: string): Promise<void> {
      await within(enqueueTimeoutMs, add(queueOf(node), [job({ ...attempt, delayMs: 0 }, id)]))
    },

    async ready(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.waitUntilReady()))
    },

    async close(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}

type NewJob = ReturnType<typeof job>
type NodeQueue = ReturnType<typeof openQueue>

function job({ deliveryId, attempt, delayMs }: QueuedAttempt, id: string) {
  // Finished jobs leave nothing behind: a kept one would make its id unusable, and the table has the history.
  const opts = { jobId: id, delay: delayMs, removeOnComplete: true, removeOnFail: true }
  return { name: 'attempt', data: { deliveryId, attempt }, opts }
}

async function add(queue: NodeQueue, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length >= bulkFrom) await queue.addBulk([...jobs])
  else await Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)))
}

function openQueue(store: QueueStore, node: string, log: Logger) {
  const prefix = store.kind === 'redis' ? { prefix: store.prefix } : {}
  const queue = new Queue(
    queueName(node),
    { connection: store, ...prefix, streams: { events: { maxLen: keptEvents } } },
    producerBackend,
  )
  queue.on('error', (error) => log.warn({ err: error, node }, 'the queue reports an error'))
  return queue
}

/** The work goes on when the time is up, and its late failure concerns nobody. */
async function within<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Error(`The queue gave no answer for ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
