// Takes jobs from the queues, a bounded number at a time per node, so that a slow endpoint delays only itself.
import { randomUUID } from 'node:crypto'
import type { Logger } from '@paylog/runtime/log'
import type { WebhookNode } from '@paylog/webhooks/nodes'
import { Worker } from 'bullmq'
import type { AttemptRef } from '../deliveries/deliveries.ts'
import type { Sender } from '../send/sender.ts'
import { workerBackend } from './backend.ts'
import { attemptsOf, type JobData } from './jobs.ts'
import type { QueueStore } from './queueStore.ts'
import { type Queues, queueName } from './queues.ts'
import { createTurns } from './turns.ts'

/** How many attempts of a node a process makes at a time. */
export const concurrencyPerNode = 100
/** Most jobs have more than one attempt; what a process holds, no other one can make. */
const jobsPerNode = 50
/** A job's lock outlives the longest request by this much, so that no second worker takes it meanwhile. */
const lockMarginMs = 5_000
const stalledCheckMs = 3_000
const retryAfterErrorMs = 1_000
/** How long a stop waits for requests that are under way. */
const drainMs = 6_000

/** Starts a worker for every node. `close` takes no more jobs and waits, for a while, for requests under way. */
export async function startWorkers(options: {
  store: QueueStore
  nodes: readonly WebhookNode[]
  queues: Pick<Queues, 'enqueue'>
  send: Sender
  log: Logger
}): Promise<{ close(): Promise<void> }> {
  const { store, nodes, queues, send, log } = options
  const stopping = new AbortController()
  const cutOff = new AbortController()
  const signals = { stopping: stopping.signal, cutOff: cutOff.signal }
  const workers = nodes.map((node) =>
    openWorker(store, node, attemptMaker(node, { queues, send, log, ...signals }), log),
  )
  // Their names must be known before they hold jobs: a job held by an unknown name is taken for orphaned.
  await Promise.all(workers.map((worker) => worker.waitUntilReady()))
  for (const worker of workers) worker.run().catch((error: unknown) => log.error({ err: error }, 'a worker ended'))
  return {
    async close() {
      stopping.abort()
      const timer = setTimeout(
        () => cutOff.abort(new Error('The worker stops before the endpoint has answered')),
        drainMs,
      )
      await Promise.all(workers.map((worker) => worker.close()))
      clearTimeout(timer)
    },
  }
}

type MakeAttempt = (attempt: AttemptRef) => Promise<void>

/** Makes attempts of a node, a bounded number at a time, and queues what follows. */
function attemptMaker(
  node: WebhookNode,
  deps: {
    queues: Pick<Queues, 'enqueue'>
    send: Sender
    log: Logger
    stopping: AbortSignal
    cutOff: AbortSignal
  },
): MakeAttempt {
  const { queues, send, log, stopping, cutOff } = deps
  const inTurn = createTurns(concurrencyPerNode)
  return (attempt) =>
    inTurn(async () => {
      // Its row stays pending, so the sweep brings it to another worker.
      if (stopping.aborted) return
      const next = await send(node, attempt, cutOff)
      if (next === undefined) return
      await queues.enqueue(node.name, [next]).catch((error: unknown) => {
        log.warn({ err: error, node: node.name }, 'could not queue the next attempt, the sweep will')
      })
    })
}

function openWorker(store: QueueStore, node: WebhookNode, make: MakeAttempt, log: Logger) {
  const worker = new Worker(
    queueName(node.name),
    async ({ data }: { data: JobData }) => {
      const ends = await Promise.allSettled(attemptsOf(data).map(make))
      const failure = ends.find((end) => end.status === 'rejected')
      if (failure !== undefined) throw failure.reason
    },
    {
      connection: store,
      ...(store.kind === 'redis' ? { prefix: store.prefix } : {}),
      name: randomUUID(),
      autorun: false,
      concurrency: jobsPerNode,
      lockDuration: node.timeoutMs + lockMarginMs,
      stalledInterval: stalledCheckMs,
      // A job that was with a killed worker is no bad job, however often that happens.
      maxStalledCount: 1_000_000,
      runRetryDelay: retryAfterErrorMs,
    },
    workerBackend,
  )
  worker.on('error', (error) => log.warn({ err: error, node: node.name }, 'a worker reports an error'))
  // Our own database, or a stop, made the attempt throw; its row is still pending, so the sweep brings it back.
  worker.on('failed', (_, error) =>
    log.warn({ err: error, node: node.name }, 'an attempt ended without a record, it will be made again'),
  )
  return worker
}
