// Lets a bounded number of things happen at a time.
import { randomUUID } from 'node:crypto'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { Worker } from 'bullmq'
import type { Sender } from '../send/sender.ts'
import type { AttemptRef } from '../tables/deliveries.ts'
import { type QueueStore, workerBackend } from './queueStore.ts'
import { attemptsOf, type JobData, type Queues, queueName } from './queues.ts'

/** @returns runs what it is given when it is its turn, in the order in which it was asked */
export function createConcurrencyLimit(limit: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = []
  let free = limit
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

// Takes jobs from the queues, a bounded number at a time per node, so that a slow endpoint delays only itself.

/** How many attempts of a node a process makes at a time. */
export const concurrencyPerEndpoint = 100
/** Most jobs have more than one attempt; what a process holds, no other one can make. */
const jobsPerEndpoint = 50
/** A job's lock outlives the longest request by this much, so that no second worker takes it meanwhile. */
const lockMarginMs = 5_000
const stalledCheckMs = 3_000
const retryAfterErrorMs = 1_000
/** As many of what a stop gave up are named. */
const maxNamed = 20

export type Workers = {
  /** Takes no more jobs, waits for requests under way until they are given up. @throws when some were */
  close(): Promise<void>
  /** The attempts that are being made: node and delivery. */
  underWay(): readonly string[]
}

/**
 * Starts a worker for every node.
 * @param options no more jobs are taken once `stopping` aborts; when `givingUp` aborts while they are being closed, requests
 *   under way are broken off, and made again by another worker
 */
export async function startWorkers(options: {
  store: QueueStore
  endpoints: readonly WebhookEndpoint[]
  queues: Pick<Queues, 'enqueue'>
  send: Sender
  stopping?: AbortSignal
  givingUp?: AbortSignal
  log: Logger
}): Promise<Workers> {
  const { store, endpoints, queues, send, stopping, givingUp, log } = options
  const closed = new AbortController()
  const cutOff = new AbortController()
  const underWay = new Set<string>()
  const parts = { queues, send, log, closed: closed.signal, cutOff: cutOff.signal, underWay }
  const workers = endpoints.map((node) => openWorker(store, node, attemptMaker(node, parts), log))
  // Their names must be known before they hold jobs: a job held by an unknown name is taken for orphaned.
  await Promise.all(workers.map((worker) => worker.waitUntilReady()))
  for (const worker of workers) worker.run().catch((error: unknown) => log.error({ err: error }, 'a worker ended'))
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeAll()
    return closing
  }

  async function closeAll(): Promise<void> {
    closed.abort()
    let givenUp: readonly string[] = []
    const giveUp = () => {
      givenUp = [...underWay]
      cutOff.abort(new Error('The worker stops before the endpoint has answered'))
    }
    if (givingUp?.aborted) giveUp()
    givingUp?.addEventListener('abort', giveUp)
    await Promise.all(workers.map((worker) => worker.close()))
    givingUp?.removeEventListener('abort', giveUp)
    if (givenUp.length > 0) throw new Error(`The endpoint did not answer before the stop: ${nameSome(givenUp)}`)
  }

  // What fails is told to whoever waits for the close.
  stopping?.addEventListener('abort', () => void close().catch(() => undefined))
  return { close, underWay: () => [...underWay] }
}

function nameSome(all: readonly string[]): string {
  const more = all.length - maxNamed
  return `${all.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

type MakeAttempt = (attempt: AttemptRef) => Promise<void>

/** Makes attempts of a node, a bounded number at a time, and queues what follows. */
function attemptMaker(
  node: WebhookEndpoint,
  deps: {
    queues: Pick<Queues, 'enqueue'>
    send: Sender
    log: Logger
    closed: AbortSignal
    cutOff: AbortSignal
    underWay: Set<string>
  },
): MakeAttempt {
  const { queues, send, log, closed, cutOff, underWay } = deps
  const limitConcurrency = createConcurrencyLimit(concurrencyPerEndpoint)
  return (attempt) =>
    limitConcurrency(async () => {
      // Its row stays pending, so the sweep brings it to another worker.
      if (closed.aborted) return
      const name = `node ${node.name}, delivery ${attempt.deliveryId}`
      underWay.add(name)
      const next = await send(node, attempt, cutOff).finally(() => underWay.delete(name))
      if (next === undefined) return
      await queues.enqueue(node.name, [next]).catch((error: unknown) => {
        log.warn({ err: error, node: node.name }, 'could not queue the next attempt, the sweep will')
      })
    })
}

function openWorker(store: QueueStore, node: WebhookEndpoint, make: MakeAttempt, log: Logger) {
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
      concurrency: jobsPerEndpoint,
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
