// Wake-ups of the workers, over one BullMQ queue. Nothing depends on them: every worker also polls the work list.
import { isRefusedByRedis, refusedByRedis } from '@paylog/runtime/http/sharedRedis'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { Queue, Worker } from 'bullmq'
import { producerBackend, type QueueStore, workerBackend } from './queueStore.ts'

/** As the queues of 1.0.0 have it: the name of an endpoint. */
type WakeUp = { readonly node: string }

export type WakeUps = ReturnType<typeof openWakeUps>

const queueName = 'webhooks'
const keptEvents = 100
const concurrency = 10
/** Retries of an endpoint within this time share a wake-up. */
const roundMs = 100
/** An endpoint whose slots are taken needs no wake-up for each delivery. */
const wakeEveryMs = 250
/** The poll notices later retries as well. This bounds the jobs of an endpoint that is down. */
const horizonMs = 60_000
/** While the queue hangs, no more are added. */
const maxPending = 1_000

const sharedOptions = (store: QueueStore) => ({
  connection: store,
  ...(store.kind === 'redis' ? { prefix: store.prefix } : {}),
})

const refusedEveryMs = 60_000
let refusedAt = Number.NEGATIVE_INFINITY

/** A login that Redis refuses is said once a minute: each connection meets it, and each attempt of it. */
function report(log: Logger, error: unknown, what: string, detail: object = {}): void {
  if (!isRefusedByRedis(error)) log.warn({ err: error, ...detail }, what)
  else if (performance.now() - refusedAt >= refusedEveryMs) {
    refusedAt = performance.now()
    log.warn({ reason: error.message }, `${refusedByRedis}: the workers poll instead of being woken`)
  }
}

/**
 * Takes wake-ups from the queue, as soon as its store is there.
 * @param options `wake` is called with the name of the endpoint
 */
export function takeWakeUps(options: {
  readonly store: QueueStore
  readonly wake: (endpoint: string) => void
  readonly log: Logger
}): { close(): Promise<void> } {
  const { store, wake, log } = options
  const process = async ({ data }: { data: WakeUp }) => wake(data.node)
  const worker = new Worker(queueName, process, { ...sharedOptions(store), concurrency }, workerBackend)
  worker.on('error', (error) => report(log, error, 'queue worker error'))
  return { close: () => worker.close() }
}

/** Opens the queue for adding wake-ups, which never blocks and never fails. */
export function openWakeUps({ store, log }: { readonly store: QueueStore; readonly log: Logger }) {
  const options = { ...sharedOptions(store), streams: { events: { maxLen: keptEvents } } }
  const queue = new Queue(queueName, options, producerBackend)
  queue.on('error', (error) => report(log, error, 'queue error'))
  const pending = new Set<string>()

  /** Per endpoint, the time of the last wake-up that was added here. */
  const last = new Map<string, number>()

  function add(endpoint: string, time: number): void {
    if (last.get(endpoint) === time) return
    last.set(endpoint, time)
    // BullMQ ignores a second job with the same id.
    const jobId = `${endpoint}-${time}`
    if (pending.has(jobId) || pending.size >= maxPending) return
    pending.add(jobId)
    const delay = Math.max(0, time - Date.now())
    queue
      .add('wake-up', { node: endpoint }, { jobId, delay, removeOnComplete: true, removeOnFail: true })
      .catch((error: unknown) =>
        report(log, error, 'could not queue a wake-up, the workers will poll', { node: endpoint }),
      )
      .finally(() => pending.delete(jobId))
  }

  return {
    /** Wakes a worker now. */
    wake: (endpoint: string): void => add(endpoint, Math.floor(Date.now() / wakeEveryMs) * wakeEveryMs),

    /** Wakes a worker at the time of a retry. */
    schedule(endpoint: string, at: Date): void {
      if (at.getTime() - Date.now() < horizonMs) add(endpoint, Math.ceil(at.getTime() / roundMs) * roundMs)
    },

    /** How many wake-ups wait. Does not return while the queue hangs. */
    waiting: (): Promise<number> => queue.getWaitingCount(),

    /** Also succeeds while the queue's store is down. */
    close: (): Promise<void> =>
      queue.close().catch((error: unknown) => log.warn({ err: error }, 'the queue was not closed in order')),
  }
}
