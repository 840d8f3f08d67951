// What jobs say: which attempts to make. First attempts share jobs, because a queue's price is per job.

import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { ErrorCode, type Job, Queue } from 'bullmq'
import type { AttemptRef, QueuedAttempt } from '../tables/deliveries.ts'
import { producerBackend, type QueueStore } from './queueStore.ts'

/** Attempts of one node that have the same number. */
export type JobData = { readonly attempt: number; readonly deliveryIds: readonly string[] }

/** In BullMQ a job with a priority comes after all jobs without one, in whatever order they were added. */
const testPriority = 1

/** A job is held until the last of its attempts has ended, and whoever holds it may die. */
const maxAttemptsPerJob = 50

/** The job's id: with it a second job for the same attempt is none. */
export function jobId({ deliveryId, attempt }: AttemptRef): string {
  return `${deliveryId}-${attempt}`
}

export function attemptsOf({ attempt, deliveryIds }: JobData): AttemptRef[] {
  return deliveryIds.map((deliveryId) => ({ deliveryId, attempt }))
}

/** A job of its own, under an id that says which attempt it is for. */
function singleJob(
  { deliveryId, attempt, delayMs, isTest = false }: QueuedAttempt,
  id = jobId({ deliveryId, attempt }),
) {
  return job({ attempt, deliveryIds: [deliveryId] }, id, { delay: delayMs, ...(isTest && { priority: testPriority }) })
}

/** Jobs for the first attempts of these deliveries. The id of a shared one tells nothing of all but the first. */
function sharedJobs(deliveryIds: readonly string[]) {
  const jobs: ReturnType<typeof job>[] = []
  for (let from = 0; from < deliveryIds.length; from += maxAttemptsPerJob) {
    const some = deliveryIds.slice(from, from + maxAttemptsPerJob)
    const id = jobId({ deliveryId: some[0] ?? '', attempt: 1 })
    jobs.push(
      job({ attempt: 1, deliveryIds: some }, some.length === 1 ? id : `${id}-shared-by-${some.length}`, { delay: 0 }),
    )
  }
  return jobs
}

export type NewJob = ReturnType<typeof job>

function job(data: JobData, jobId: string, when: { readonly delay: number; readonly priority?: number }) {
  // Finished jobs leave nothing behind: a kept one would make its id unusable, and the table has the history.
  return { name: 'attempt', data, opts: { jobId, ...when, removeOnComplete: true, removeOnFail: true } }
}

// The job queues, one per node: what to do next, kept as a cache of the deliveries table.

export type Queues = ReturnType<typeof createQueues>

/** With this many jobs waiting nothing is gained by more: the table keeps the rest, and the queue stays bounded. */
export const maxWaiting = 500

/** A queue that does not answer is as good as lost. */
const enqueueTimeoutMs = 2_000
const keptEvents = 100
/** A bulk insert has a fixed price that pays off only from here on. */
const bulkFrom = 4
const promoteBatch = 50
const scanBatch = 50

/** The queue's name; no colon, which BullMQ refuses. */
export function queueName(node: string): string {
  return `webhooks-${node}`
}

export function createQueues(options: { store: QueueStore; endpoints: readonly WebhookEndpoint[]; log: Logger }) {
  const { store, endpoints, log } = options
  const queues = new Map(endpoints.map(({ name }) => [name, openQueue(store, name, log)]))
  const queueOf = (node: string) => {
    const queue = queues.get(node)
    if (queue === undefined) throw new Error(`No queue for node ${node}`)
    return queue
  }

  return {
    /** Adds jobs for the first attempts of deliveries that have just been made. @throws as `enqueue` does */
    async enqueueNew(node: string, deliveryIds: readonly string[]): Promise<void> {
      await withTimeout(enqueueTimeoutMs, add(queueOf(node), sharedJobs(deliveryIds)))
    },

    /**
     * Sees to it that each attempt is in a job. The job of one that is to be made now waits no longer, if it does. When
     * enough are delayed already, the delayed ones are left to the sweep.
     * @returns how many were in no job, as far as that is known: each further attempt counts as one that was not
     * @throws when the queue does not take them within 2 s
     */
    async enqueue(node: string, attempts: readonly QueuedAttempt[]): Promise<number> {
      const queue = queueOf(node)
      const wanted = await withoutSurplus(queue, attempts)
      const isShared = ({ attempt, isTest }: QueuedAttempt) => attempt === 1 && !isTest
      const first = wanted.filter(isShared).map(({ deliveryId }) => deliveryId)
      const further = wanted.filter((attempt) => !isShared(attempt)).map((attempt) => singleJob(attempt))
      const there = first.length === 0 ? new Set() : await firstAttempts(queue)
      const missing = first.filter((deliveryId) => !there.has(deliveryId))
      await withTimeout(enqueueTimeoutMs, add(queue, [...sharedJobs(missing), ...further]))
      const mayWait = further.filter(({ opts }) => opts.delay === 0)
      if (mayWait.length > 0) await promote(queue, mayWait)
      return missing.length + further.length
    },

    /** How many jobs could be taken right now, besides those of tests. */
    async waiting(node: string): Promise<number> {
      return await withTimeout(enqueueTimeoutMs, queueOf(node).getWaitingCount())
    },

    /** Attempts in jobs that a worker holds at this moment, and the name of that worker. */
    async activeAttempts(node: string, mostJobs: number): Promise<{ attempt: AttemptRef; worker: string }[]> {
      const jobs = await withTimeout(enqueueTimeoutMs, queueOf(node).getActive(0, mostJobs - 1))
      return jobs.flatMap(({ data, processedBy }) =>
        processedBy === undefined ? [] : attemptsOf(data).map((attempt) => ({ attempt, worker: processedBy })),
      )
    },

    /**
     * Whether a worker of this name is connected to the node's queue; nothing when that cannot be known. A Redis that
     * lists no clients is told of by an entry without a name; and who asks has workers of its own, so no entry at all
     * does not mean that there are none.
     */
    async liveWorkers(node: string): Promise<((worker: string) => boolean) | undefined> {
      const clients = await withTimeout(enqueueTimeoutMs, queueOf(node).getWorkers())
      const names = clients.flatMap(({ rawname }) => rawname ?? [])
      return names.length === 0 ? undefined : (worker) => names.some((name) => name.endsWith(`:w:${worker}`))
    },

    /** Adds a second job, under an id of its own, for an attempt whose first job is held by a dead worker. */
    async takeOver(node: string, attempt: AttemptRef, id: string): Promise<void> {
      await withTimeout(enqueueTimeoutMs, add(queueOf(node), [singleJob({ ...attempt, delayMs: 0 }, id)]))
    },

    async ready(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.waitUntilReady()))
    },

    async close(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
    },
  }
}

type EndpointQueue = ReturnType<typeof openQueue>

/**
 * The deliveries whose first attempt is in a job: the id of a shared job does not tell. Bit by bit, because others are
 * being delivered; the newest first and those that are held last, so that what moves on meanwhile is not missed.
 */
async function firstAttempts(queue: EndpointQueue): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const look = async (state: 'waiting' | 'active', from: number): Promise<number> => {
    const to = from + scanBatch - 1
    const jobs: readonly Job<JobData>[] = await withTimeout(enqueueTimeoutMs, queue.getJobs([state], from, to))
    for (const { data } of jobs) if (data.attempt === 1) for (const id of data.deliveryIds) found.add(id)
    return jobs.length
  }
  // Fewer may have been found than there were: some may be gone.
  for (const state of ['waiting', 'active'] as const)
    for (let from = 0; (await look(state, from)) > 0; ) from += scanBatch
  return found
}

async function add(queue: EndpointQueue, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length >= bulkFrom) await queue.addBulk([...jobs])
  else await Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)))
}

/** An endpoint that is down for hours would else have a job for each of its deliveries wait for the next attempt. */
async function withoutSurplus(
  queue: EndpointQueue,
  attempts: readonly QueuedAttempt[],
): Promise<readonly QueuedAttempt[]> {
  const now = attempts.filter(({ delayMs }) => delayMs === 0)
  if (now.length === attempts.length) return attempts
  return (await withTimeout(enqueueTimeoutMs, queue.getDelayedCount())) < maxWaiting ? attempts : now
}

/** Makes those of the jobs that wait for their time ready now. */
async function promote(queue: EndpointQueue, jobs: readonly NewJob[]): Promise<void> {
  if ((await withTimeout(enqueueTimeoutMs, queue.getDelayedCount())) === 0) return
  for (let from = 0; from < jobs.length; from += promoteBatch) {
    const some = jobs.slice(from, from + promoteBatch)
    await withTimeout(enqueueTimeoutMs, Promise.all(some.map(({ opts }) => promoteOne(queue, opts.jobId))))
  }
}

async function promoteOne(queue: EndpointQueue, id: string): Promise<void> {
  try {
    await queue.backend.promote(id)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !isNotDelayed(error.code)) throw error
  }
}

/** It is ready or held already, or was done in the meantime. */
function isNotDelayed(code: unknown): boolean {
  return code === ErrorCode.JobNotInState || code === ErrorCode.JobNotExist
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
async function withTimeout<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new Error(`The queue gave no answer for ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
