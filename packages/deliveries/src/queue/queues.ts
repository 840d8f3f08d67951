// The job queues, one per endpoint: a cache of the next attempts in the deliveries table.

import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { ErrorCode, type Job, Queue } from 'bullmq'
import type { AttemptRef, QueuedAttempt } from '../tables/deliveries.ts'
import { producerBackend, type QueueStore } from './queueStore.ts'

/** Attempts for one endpoint that have the same number. First attempts share jobs, because a queue's cost is per job. */
export type JobData = { readonly attempt: number; readonly deliveryIds: readonly string[] }

export type Queues = ReturnType<typeof createQueues>

/** More waiting jobs have no benefit: the table keeps the rest, and the queue stays bounded. */
export const maxWaiting = 500

export function createQueues(options: { store: QueueStore; endpoints: readonly WebhookEndpoint[]; log: Logger }) {
  const { store, endpoints, log } = options
  const queues = new Map(endpoints.map(({ name }) => [name, openQueue(store, name, log)]))
  const queueOf = (node: string) => {
    const queue = queues.get(node)
    if (queue === undefined) throw new Error(`No queue for endpoint ${node}`)
    return queue
  }

  return {
    /** Adds jobs for the first attempts of new deliveries. @throws like `enqueue` */
    async enqueueNew(node: string, deliveryIds: readonly string[]): Promise<void> {
      await withTimeout(enqueueTimeoutMs, add(queueOf(node), sharedJobs(deliveryIds)))
    },

    /**
     * Ensures that each attempt is in a job, and starts delayed jobs whose attempt is due now. When enough jobs are
     * delayed already, it leaves further delayed attempts to the requeuer.
     * @returns how many attempts had no job; retries always count as missing
     * @throws when the queue does not accept them within 2 s
     */
    async enqueue(node: string, attempts: readonly QueuedAttempt[]): Promise<number> {
      const queue = queueOf(node)
      const accepted = await limitDelayed(queue, attempts)
      const isShared = ({ attempt, isTest }: QueuedAttempt) => attempt === 1 && !isTest
      const first = accepted.filter(isShared).map(({ deliveryId }) => deliveryId)
      const further = accepted.filter((attempt) => !isShared(attempt)).map((attempt) => singleJob(attempt))
      const queued = first.length === 0 ? new Set() : await firstAttempts(queue)
      const missing = first.filter((deliveryId) => !queued.has(deliveryId))
      await withTimeout(enqueueTimeoutMs, add(queue, [...sharedJobs(missing), ...further]))
      const immediate = further.filter(({ opts }) => opts.delay === 0)
      if (immediate.length > 0) await promote(queue, immediate)
      return missing.length + further.length
    },

    /** How many jobs a worker could take now, without tests. */
    async waiting(node: string): Promise<number> {
      return await withTimeout(enqueueTimeoutMs, queueOf(node).getWaitingCount())
    },

    /** The attempts in active jobs, each with the name of its worker. */
    async activeAttempts(node: string, maxJobs: number): Promise<{ attempt: AttemptRef; worker: string }[]> {
      const jobs = await withTimeout(enqueueTimeoutMs, queueOf(node).getActive(0, maxJobs - 1))
      return jobs.flatMap(({ data, processedBy }) =>
        processedBy === undefined ? [] : attemptsOf(data).map((attempt) => ({ attempt, worker: processedBy })),
      )
    },

    /**
     * Returns a check whether a worker of this name is connected to the endpoint's queue; `undefined` when the list of
     * workers is unreliable. A Redis that does not list clients returns entries without names. An empty list is
     * unreliable too, because this process has workers itself.
     */
    async liveWorkers(node: string): Promise<((worker: string) => boolean) | undefined> {
      const clients = await withTimeout(enqueueTimeoutMs, queueOf(node).getWorkers())
      const names = clients.flatMap(({ rawname }) => rawname ?? [])
      return names.length === 0 ? undefined : (worker) => names.some((name) => name.endsWith(`:w:${worker}`))
    },

    /** Adds a second job with a different id for an attempt whose active job belongs to a dead worker. */
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

const keptEvents = 100

/** After this long the queue counts as down. */
const enqueueTimeoutMs = 2_000

/** From this many jobs on, a bulk insert is cheaper than single ones. */
const bulkFrom = 4

const promoteBatch = 50

const scanBatch = 50

/** BullMQ takes jobs with a priority after all jobs without one. */
const testPriority = 1

/** A job ends with its last attempt, and a killed worker loses the whole job. */
const maxAttemptsPerJob = 50

/** BullMQ ignores a second job with the same id, so this prevents duplicate jobs for an attempt. */
export function jobId({ deliveryId, attempt }: AttemptRef): string {
  return `${deliveryId}-${attempt}`
}

/** The name of an endpoint's queue. BullMQ does not allow colons. */
export function queueName(node: string): string {
  return `webhooks-${node}`
}

export function attemptsOf({ attempt, deliveryIds }: JobData): AttemptRef[] {
  return deliveryIds.map((deliveryId) => ({ deliveryId, attempt }))
}

/** A job with one attempt, whose id names that attempt. */
function singleJob(
  { deliveryId, attempt, delayMs, isTest = false }: QueuedAttempt,
  id = jobId({ deliveryId, attempt }),
) {
  return job({ attempt, deliveryIds: [deliveryId] }, id, { delay: delayMs, ...(isTest && { priority: testPriority }) })
}

/** Jobs for first attempts. The id of a shared job names only its first delivery. */
function sharedJobs(deliveryIds: readonly string[]) {
  const jobs: ReturnType<typeof job>[] = []
  for (let from = 0; from < deliveryIds.length; from += maxAttemptsPerJob) {
    const chunk = deliveryIds.slice(from, from + maxAttemptsPerJob)
    const id = jobId({ deliveryId: chunk[0] ?? '', attempt: 1 })
    jobs.push(
      job({ attempt: 1, deliveryIds: chunk }, chunk.length === 1 ? id : `${id}-shared-by-${chunk.length}`, {
        delay: 0,
      }),
    )
  }
  return jobs
}

export type NewJob = ReturnType<typeof job>

function job(data: JobData, jobId: string, when: { readonly delay: number; readonly priority?: number }) {
  // Finished jobs are removed: a kept one would block its id, and the deliveries table has the history.
  return { name: 'attempt', data, opts: { jobId, ...when, removeOnComplete: true, removeOnFail: true } }
}

/**
 * Finds the deliveries whose first attempt is in a job. It reads the jobs, because the id of a shared job contains only
 * one delivery: in small batches, newest first and active jobs last, so that no job that changes state is missed.
 */
async function firstAttempts(queue: EndpointQueue): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const scan = async (state: 'waiting' | 'active', from: number): Promise<number> => {
    const to = from + scanBatch - 1
    const jobs: readonly Job<JobData>[] = await withTimeout(enqueueTimeoutMs, queue.getJobs([state], from, to))
    for (const { data } of jobs) if (data.attempt === 1) for (const id of data.deliveryIds) found.add(id)
    return jobs.length
  }
  // A page may be shorter than requested because jobs ended, so only an empty page is the end.
  for (const state of ['waiting', 'active'] as const)
    for (let from = 0; (await scan(state, from)) > 0; ) from += scanBatch
  return found
}

async function add(queue: EndpointQueue, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length >= bulkFrom) await queue.addBulk([...jobs])
  else await Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)))
}

/** Without this, an endpoint that is down for hours would have one delayed job per delivery. */
async function limitDelayed(
  queue: EndpointQueue,
  attempts: readonly QueuedAttempt[],
): Promise<readonly QueuedAttempt[]> {
  const now = attempts.filter(({ delayMs }) => delayMs === 0)
  if (now.length === attempts.length) return attempts
  return (await withTimeout(enqueueTimeoutMs, queue.getDelayedCount())) < maxWaiting ? attempts : now
}

/** Starts the delayed ones of these jobs. */
async function promote(queue: EndpointQueue, jobs: readonly NewJob[]): Promise<void> {
  if ((await withTimeout(enqueueTimeoutMs, queue.getDelayedCount())) === 0) return
  for (let from = 0; from < jobs.length; from += promoteBatch) {
    const chunk = jobs.slice(from, from + promoteBatch)
    await withTimeout(enqueueTimeoutMs, Promise.all(chunk.map(({ opts }) => promoteOne(queue, opts.jobId))))
  }
}

async function promoteOne(queue: EndpointQueue, id: string): Promise<void> {
  try {
    await queue.backend.promote(id)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !isNotDelayed(error.code)) throw error
  }
}

/** The job is waiting or active already, or has ended. */
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
  queue.on('error', (error) => log.warn({ err: error, node }, 'queue error'))
  return queue
}

/** The work continues after the timeout, and its late failure is ignored. */
async function withTimeout<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => timeout.reject(new Error(`The queue did not respond within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    return await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
