// The store of the wake-ups, Redis or Postgres, and its connections.

import { setTimeout as sleep } from 'node:timers/promises'
import { createSessionPool } from '@paylog/runtime/postgres/session'
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

export type QueueStore =
  | { readonly kind: 'postgres'; readonly pool: PgPool; readonly schema: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }

const schema = 'queue'
const statementTimeoutMs = 15_000
/** Longer than the statement timeout: when the connection hangs, Postgres cannot end the statement. */
const responseTimeoutMs = 20_000
const connectTimeoutMs = 5_000
/** A connection that only listens has to detect a lost peer within seconds. */
const keepAliveMs = 10_000
/** One listens, the others run statements of about a millisecond. */
const maxConnections = 3

/** The id that the migrations gave this database. @throws when it is missing */
export async function installationId(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('select id from webhooks.installation')
  const [row] = rows
  if (row === undefined) throw new Error('The table webhooks.installation is empty')
  return row.id
}

/**
 * Opens the store of the wake-ups: Redis if configured, else the same Postgres. They concern rows of this database, so Redis
 * keys carry the installation id: installations that share a Redis never take each other's wake-ups.
 */
export async function openQueueStore(options: {
  databaseUrl: string
  redisUrl: string | undefined
  installation: string
  log: Logger
}): Promise<{ store: QueueStore; close(): Promise<void> }> {
  const { databaseUrl, redisUrl, installation, log } = options
  if (redisUrl !== undefined) {
    // The queue and its worker open and close their own connections.
    return { store: { kind: 'redis', url: redisUrl, prefix: `paylog-${installation}` }, close: async () => undefined }
  }
  const pool = openPool(databaseUrl, log)
  try {
    await migrate(pool)
  } catch (error) {
    await pool.end()
    throw error
  }
  return { store: { kind: 'postgres', pool, schema }, close: () => pool.end() }
}

/** Not the runtime's pool: its number parser does not suit BullMQ, and it sets no `search_path`. */
function openPool(databaseUrl: string, log: Logger): PgPool {
  const pool = createSessionPool(
    {
      ...{ databaseUrl, log },
      application_name: 'worker queues',
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: responseTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    },
    // The workers poll too, so wake-ups may be lost in a crash, and commits need not wait for the disk.
    { search_path: schema, synchronous_commit: 'off', statement_timeout: statementTimeoutMs },
  )
  pool.on('error', (error) => log.warn({ err: error }, 'an idle queue connection was lost'))
  // A client in use has no other error listener for a moment, and its loss would end the process.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.debug({ err: error }, 'a queue connection was lost')),
  )
  // Narrows the type; pg's types alone are not enough.
  if (!isPgPool(pool)) throw new Error('BullMQ does not accept this pool')
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

/**
 * Detects Redis connections that hang, which would otherwise stay open for hours. A worker's blocking read lasts at most
 * 10 s, so no response can take longer than this.
 */
const redisTimeoutMs = 15_000

export type QueueBackend = BackendFactory<IQueueBackend, QueueStore>

/** Backend for adding and inspecting jobs. It fails at once when its database is down. */
export const producerBackend: QueueBackend = (name, options, blocking) => {
  return openBackend(name, options, blocking, { maxRetriesPerRequest: 1, enableOfflineQueue: false })
}

/** Backend for a worker. It waits for its database to come back. */
export const workerBackend: QueueBackend = (name, options, blocking) => {
  return openBackend(name, options, blocking, { maxRetriesPerRequest: null, enableOfflineQueue: true })
}

/**
 * `openQueueStore` has migrated, so there is nothing to wait for. BullMQ's own check of the schema remembers that it failed: a
 * worker whose first connection timed out would repeat that error without a pause, and starve all timers of the process.
 */
class MigratedConnection extends PostgresConnection {
  override async waitUntilReady(): Promise<void> {}
}

/** BullMQ's worker repeats a failed claim at once. A Postgres that rejects connections was asked 160 times a second. */
const failedClaimPauseMs = 1_000

class PausingBackend extends PostgresQueueBackend {
  override async moveToActive(...claim: Parameters<PostgresQueueBackend['moveToActive']>) {
    try {
      return await super.moveToActive(...claim)
    } catch (error) {
      await sleep(failedClaimPauseMs)
      throw error
    }
  }
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
  // With a pool of ours, BullMQ uses the schema `bullmq` unless it is set here.
  const connection = Object.assign(new MigratedConnection(store.pool), { schema: store.schema })
  const listener = blocking?.withBlockingConnection ? `${name}:w` : undefined
  return new PausingBackend(connection, name, { ...options, connection: store.pool }, true, listener)
}
