// How BullMQ reaches the store of the queues.
import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  PostgresConnection,
  PostgresQueueBackend,
  type QueueBaseOptions,
} from 'bullmq'
import type { QueueStore } from './queueStore.ts'

/**
 * A connection that was cut off without a word would stay open for hours. A worker asks Redis to wait for a job for ten
 * seconds at most, so an answer that takes longer does not come any more.
 */
const redisTimeoutMs = 15_000

export type QueueBackend = BackendFactory<IQueueBackend, QueueStore>

/** The backend of something that only adds and looks. It fails at once when its database is gone; nobody waits for it. */
export const producerBackend: QueueBackend = (name, options, blocking) => {
  return openBackend(name, options, blocking, { maxRetriesPerRequest: 1, enableOfflineQueue: false })
}

/** The backend of a worker, which waits for its database to come back. */
export const workerBackend: QueueBackend = (name, options, blocking) => {
  return openBackend(name, options, blocking, { maxRetriesPerRequest: null, enableOfflineQueue: true })
}

function openBackend(
  name: string,
  { connection: store, ...options }: QueueBaseOptions<QueueStore> & { name?: string },
  blocking: Parameters<QueueBackend>[2],
  redisOptions: { readonly maxRetriesPerRequest: number | null; readonly enableOfflineQueue: boolean },
): IQueueBackend {
  if (store.kind === 'redis') {
    const connection = { url: store.url, socketTimeout: redisTimeoutMs, ...redisOptions }
    return createRedisBackend(name, { ...options, connection }, blocking)
  }
  // On a pool that others own, BullMQ looks for its tables in the schema `bullmq` unless it is told here.
  const connection = Object.assign(new PostgresConnection(store.pool), { schema: store.schema })
  // Workers are found by the name of the connection on which they listen.
  const listener = blocking?.withBlockingConnection ? `${name}:w:${options.name}` : undefined
  return new PostgresQueueBackend(connection, name, { ...options, connection: store.pool }, true, listener)
}
