// Queue workers: they make the attempts of each endpoint, limited per endpoint so that a slow one delays only itself.
import { randomUUID } from 'node:crypto'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { Worker } from 'bullmq'
import type { Sender } from '../send/sender.ts'
import type { AttemptRef } from '../tables/deliveries.ts'
import { type QueueStore, workerBackend } from './queueStore.ts'
import { attemptsOf, type JobData, type Queues, queueName } from './queues.ts'

/** How many attempts for an endpoint one process makes concurrently. */
export const concurrencyPerEndpoint = 100
/** Most jobs contain several attempts, and no other process can make the attempts of an active job. */
const jobsPerEndpoint = 50
/** How much longer than the longest request a job stays locked, so that no second worker takes it. */
const lockMarginMs = 5_000
const stalledCheckMs = 3_000
const retryAfterErrorMs = 1_000
/** At most this many abandoned attempts are listed in the error. */
const maxListed = 20

export type Workers = {
  /** Takes no more jobs and waits for running requests. @throws when some of them were abandoned */
  close(): Promise<void>
  /** The running attempts, by endpoint and delivery. */
  underWay(): readonly string[]
}

/**
 * Starts a worker for every endpoint.
 * @param options when `stopping` aborts, no more jobs are taken; when `givingUp` aborts during the close, running requests
 *   are aborted, and another worker repeats them
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
  const deps = { queues, send, log, closed: closed.signal, cutOff: cutOff.signal, underWay }
  const workers = endpoints.map((node) => openWorker(store, node, attemptMaker(node, deps), log))
  // Register the worker names before taking jobs: a job of an unknown worker counts as orphaned.
  await Promise.all(workers.map((worker) => worker.waitUntilReady()))
  for (const worker of workers)
    worker.run().catch((error: unknown) => log.error({ err: error }, 'a queue worker ended'))
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= closeAll()
    return closing
  }

  async function closeAll(): Promise<void> {
    closed.abort()
    let abandoned: readonly string[] = []
    const abandon = () => {
      abandoned = [...underWay]
      cutOff.abort(new Error('The worker stopped before the endpoint responded'))
    }
    if (givingUp?.aborted) abandon()
    givingUp?.addEventListener('abort', abandon)
    await Promise.all(workers.map((worker) => worker.close()))
    givingUp?.removeEventListener('abort', abandon)
    if (abandoned.length > 0) throw new Error(`Stopped before the endpoint responded: ${listNames(abandoned)}`)
  }

  // Callers of `close` get the error.
  stopping?.addEventListener('abort', () => void close().catch(() => undefined))
  return { close, underWay: () => [...underWay] }
}

function listNames(all: readonly string[]): string {
  const more = all.length - maxListed
  return `${all.slice(0, maxListed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

type MakeAttempt = (attempt: AttemptRef) => Promise<void>

/** Makes attempts for an endpoint within its concurrency limit, and queues their retries. */
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
      // The row stays pending, so the requeuer gives it to another worker.
      if (closed.aborted) return
      const name = `endpoint ${node.name}, delivery ${attempt.deliveryId}`
      underWay.add(name)
      const next = await send(node, attempt, cutOff).finally(() => underWay.delete(name))
      if (next === undefined) return
      await queues.enqueue(node.name, [next]).catch((error: unknown) => {
        log.warn({ err: error, node: node.name }, 'could not queue the next attempt, the requeuer will')
      })
    })
}

function openWorker(store: QueueStore, node: WebhookEndpoint, make: MakeAttempt, log: Logger) {
  const worker = new Worker(
    queueName(node.name),
    async ({ data }: { data: JobData }) => {
      const results = await Promise.allSettled(attemptsOf(data).map(make))
      const failure = results.find((end) => end.status === 'rejected')
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
      // A job may stall any number of times, because a killed worker is not the job's fault.
      maxStalledCount: 1_000_000,
      runRetryDelay: retryAfterErrorMs,
    },
    workerBackend,
  )
  worker.on('error', (error) => log.warn({ err: error, node: node.name }, 'queue worker error'))
  // The database or a stop made the attempt throw. Its row is still pending, so it is requeued.
  worker.on('failed', (_, error) =>
    log.warn({ err: error, node: node.name }, 'an attempt ended unrecorded, it will be repeated'),
  )
  return worker
}

/** @returns a function that runs work when a slot is free, in the order of the calls */
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
