// What the queues of a process share: where jobs are kept, and the connections to it.
import { ConfigError } from '@paylog/config/environment'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { isPgPool, type PgPool, runMigrations } from 'bullmq'
import pg from 'pg'

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
