// Room: worker. Where BullMQ keeps its jobs: in Postgres by default, in Redis when there is one.
import { createHash } from 'node:crypto'
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type QueueBaseOptions,
} from 'bullmq'

export type QueueConnection =
  | { readonly kind: 'postgres'; readonly databaseUrl: string; readonly schema: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }

/**
 * The queue that belongs to a deliveries table. In Redis its keys are named after the database, because jobs are about
 * rows: installations that share a Redis must not take each other's jobs.
 */
export function queueConnection(databaseUrl: string, redisUrl: string | undefined): QueueConnection {
  if (redisUrl === undefined) return { kind: 'postgres', databaseUrl, schema: 'queue' }
  const { host, pathname } = new URL(databaseUrl)
  const installation = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 12)
  return { kind: 'redis', url: redisUrl, prefix: `paylog-${installation}` }
}

export type QueueBackend = BackendFactory<IQueueBackend, QueueConnection>

const statementTimeoutMs = 15_000

/** The backend of something that only adds and looks. It fails at once when its database is gone; nobody waits for it. */
export const producerBackend: QueueBackend = (name, options, blocking) => {
  return openBackend(name, options, blocking, { maxConnections: 1, maxRetriesPerRequest: 1, enableOfflineQueue: false })
}

/** The backend of a worker, which waits for its database to come back. */
export const workerBackend: QueueBackend = (name, options, blocking) => {
  return openBackend(name, options, blocking, {
    maxConnections: 3,
    maxRetriesPerRequest: null,
    enableOfflineQueue: true,
  })
}

type Limits = {
  readonly maxConnections: number
  readonly maxRetriesPerRequest: number | null
  readonly enableOfflineQueue: boolean
}

function openBackend(
  name: string,
  { connection, ...options }: QueueBaseOptions<QueueConnection>,
  blocking: Parameters<QueueBackend>[2],
  limits: Limits,
): IQueueBackend {
  if (connection.kind === 'redis') {
    const { maxRetriesPerRequest, enableOfflineQueue } = limits
    const redis = { url: connection.url, maxRetriesPerRequest, enableOfflineQueue }
    return createRedisBackend(name, { ...options, connection: redis }, blocking)
  }
  const postgres = {
    connectionString: connection.databaseUrl,
    schema: connection.schema,
    migrate: true,
    max: limits.maxConnections,
    statement_timeout: statementTimeoutMs,
    keepAlive: true,
  }
  return createPostgresBackend(name, { ...options, connection: postgres }, blocking)
}
