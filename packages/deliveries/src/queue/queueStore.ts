// Which installation the database belongs to.

import { ConfigError } from '@paylog/config/environment'
import type { Logger } from '@paylog/runtime/telemetry/log'
import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  isPgPool,
  type PgPool,
  PostgresConnection,
  PostgresQueueBackend,
  type QueueBaseOptions,
  runMigrations,
} from 'bullmq'
import type { Pool } from 'pg'
import pg from 'pg'

/** The id that was given to the database when its tables were made. @throws when they were not made yet */
export async function installationId(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('select id from webhooks.installation')
  const [row] = rows
  if (row === undefined) throw new Error('The table webhooks.installation is empty')
  return row.id
}

// What the queues of a process share: where jobs are kept, and the connections to it.

export type QueueStore =
  | { readonly kind: 'postgres'; readonly pool: PgPool; readonly schema: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }

const schema = 'queue'
const statementTimeoutMs = 15_000
/** Longer than a statement may take: a Postgres that is cut off without a word cannot end it. */
const responseTimeoutMs = 20_000
const connectTimeoutMs = 5_000
/** A connection that only listens must notice within seconds that the other side is gone. */
const keepAliveMs = 10_000
/** For all statements of all nodes; each takes about a millisecond. */
const sharedConnections = 6
/** Besides, every node's worker listens on a connection of its own. Postgres allows 100 in all, by default. */
export const maxPostgresEndpoints = 25

/** @throws ConfigError when Postgres would need more connections for the queues of this many nodes than it can spare */
export function assertConnections({ nodes, redisUrl }: { nodes: number; redisUrl: string | undefined }): void {
  if (redisUrl !== undefined || nodes <= maxPostgresEndpoints) return
  const needed = sharedConnections + nodes
  const reason = `REDIS_URL is required for more than ${maxPostgresEndpoints} enabled webhook nodes`
  throw new ConfigError([
    `${reason}: the queues of ${nodes} nodes would hold ${needed} connections to Postgres (set it, or enable fewer nodes)`,
  ])
}

/**
 * Opens the store that belongs to a deliveries table: Redis when there is one, else the same Postgres. In Redis the keys
 * are named after the installation, because jobs are about rows: those who share a Redis must not take each other's jobs.
 */
export async function openQueueStore(options: {
  databaseUrl: string
  redisUrl: string | undefined
  installation: string
  /** How many of them this process will run. */
  workers: number
  log: Logger
}): Promise<{ store: QueueStore; close(): Promise<void> }> {
  const { databaseUrl, redisUrl, installation, workers, log } = options
  if (redisUrl !== undefined) {
    // Its connections belong to each queue and worker, which close them.
    return { store: { kind: 'redis', url: redisUrl, prefix: `paylog-${installation}` }, close: async () => undefined }
  }
  const pool = openPool(databaseUrl, sharedConnections + workers, log)
  try {
    await migrate(pool)
  } catch (error) {
    await pool.end()
    throw error
  }
  return { store: { kind: 'postgres', pool, schema }, close: () => pool.end() }
}

/** Not the runtime's pool: that reads numbers in a way that BullMQ does not expect, and knows no `search_path`. */
function openPool(databaseUrl: string, max: number, log: Logger): PgPool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'worker queues',
    // What a crash of Postgres takes from a queue the sweep brings back, so nobody waits for the disk on its account.
    options: `-c search_path=${schema} -c synchronous_commit=off`,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: responseTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  })
  // Every queue and worker listens to the pool, on purpose.
  pool.setMaxListeners(0)
  pool.on('error', (error) => log.warn({ err: error }, 'an idle connection of the queues was lost'))
  // One that is in use has no other listener for some moments, and its death would end the process then.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error }, 'a connection was lost')))
  // Tells the compiler what pg's own types do not.
  if (!isPgPool(pool)) throw new Error('BullMQ does not take this pool')
  return pool
}

async function migrate(pool: PgPool): Promise<void> {
  const client = await pool.connect()
  try {
    await runMigrations(client, schema)
  } finally {
    client.release()
  }
}

// How BullMQ reaches the store of the queues.

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
