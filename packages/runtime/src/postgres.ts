// Postgres connections: pools with limits, the lock that makes a process the only active one.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Logger } from './log.ts'

const connectTimeoutMs = 5_000
const statementTimeoutMs = 15_000
const idleTimeoutMs = 30_000
const lockRetryMs = 250
const lockProbeMs = 2_000
const lockAnswerTimeoutMs = 3_000

// Local to our pools: pg's global parsers belong to everybody in the process, BullMQ included.
const columnTypes = new pg.TypeOverrides()
columnTypes.setTypeParser(pg.types.builtins.INT8, BigInt)

/**
 * A pool with every limit set. `int8` columns arrive as `bigint`: positions do not fit a JavaScript number.
 *
 * @param options `max` is the number of connections; `applicationName` shows up in `pg_stat_activity`; after
 *   `answerTimeoutMs` a query fails although the server is silent (frozen, cut off), which its own limit cannot see
 */
export function createPool({
  databaseUrl,
  applicationName,
  max,
  answerTimeoutMs,
  log,
}: {
  databaseUrl: string
  applicationName: string
  max: number
  answerTimeoutMs?: number
  log: Logger
}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: applicationName,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    ...(answerTimeoutMs === undefined ? {} : { query_timeout: answerTimeoutMs }),
    keepAlive: true,
    types: columnTypes,
  })
  // Without a listener a connection that dies while idle (a restarted server) would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  // The pool takes its own listener off a connection that is in use, and one that dies between two statements of a
  // transaction would end the process. Whoever uses it learns of it by the next statement.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error }, 'a connection was lost')))
  return pool
}

/**
 * Waits for a session lock and holds it on a connection of its own, which makes the holder the one active runner.
 *
 * The connection is probed every two seconds, so that a holder that is cut off notices while its standby takes over.
 *
 * @param options `name` is hashed to the lock's key; `waiting` is told when somebody else holds it; aborting `signal` gives
 *   up the wait
 * @returns `lost` aborts when the connection, and the lock with it, is gone; `release` gives the lock back
 * @throws the signal's reason when it aborts first
 */
export async function holdLock({
  databaseUrl,
  name,
  waiting,
  signal,
  log,
}: {
  databaseUrl: string
  name: string
  waiting?: () => void
  signal: AbortSignal
  log: Logger
}): Promise<{ lost: AbortSignal; release(): Promise<void> }> {
  const key = lockKey(name)
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: `lock ${name}`.slice(0, 63),
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: lockAnswerTimeoutMs,
    keepAlive: true,
  })
  const lost = new AbortController()
  client.on('error', (error) =>
    lost.abort(new Error(`the connection that held the lock ${name} was lost`, { cause: error })),
  )
  client.on('end', () => lost.abort(new Error(`the connection that held the lock ${name} was closed`)))
  try {
    await client.connect()
    // Asked for again and again instead of waited for in the server: a wait there could not be given up cleanly.
    for (let asked = 0; !(await tryLock(client, key)); asked += 1) {
      if (asked === 0) {
        log.info({ lock: name }, 'another process holds the lock, waiting for it')
        waiting?.()
      }
      await setTimeout(lockRetryMs, undefined, { signal: AbortSignal.any([signal, lost.signal]) })
    }
    signal.throwIfAborted()
  } catch (error) {
    await client.end().catch(() => undefined)
    throw signal.aborted ? signal.reason : error
  }
  const probe = setInterval(() => {
    client
      .query('select 1')
      .catch((error: unknown) => lost.abort(new Error(`the lock ${name} was lost`, { cause: error })))
  }, lockProbeMs)
  lost.signal.addEventListener('abort', () => {
    clearInterval(probe)
    log.error({ err: lost.signal.reason, lock: name }, 'a lock was lost')
    // Nobody may believe in the lock any longer; should the server still, ending the session frees it there too.
    client.end().catch(() => undefined)
  })
  return {
    lost: lost.signal,
    async release() {
      clearInterval(probe)
      client.removeAllListeners('end')
      await client.end().catch(() => undefined)
    },
  }
}

/**
 * Applies the numbered `.sql` files of a directory (`001_name.sql`, …) that the schema has not seen, forward only, each in a
 * transaction of its own with the schema first in its `search_path`. Processes that start together wait for each other.
 *
 * @returns the names applied by this call
 * @throws when a file fails, when a file was changed after it was applied, or when one was added before the last one applied
 */
export async function migrate(pool: pg.Pool, options: { schema: string; directory: URL }): Promise<string[]> {
  const files = await readMigrations(options.directory)
  const schema = pg.escapeIdentifier(options.schema)
  const client = await pool.connect()
  try {
    // Waiting for another process, or building an index over a big table, may take longer than any request should.
    await client.query('set statement_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [lockKey(`migrate ${options.schema}`)])
    await client.query(`create schema if not exists ${schema}`)
    await client.query(
      `create table if not exists ${schema}.migrations (
         name text primary key, sha256 text not null, applied_at timestamptz not null default now())`,
    )
    const { rows } = await client.query<{ name: string; sha256: string }>(
      `select name, sha256 from ${schema}.migrations`,
    )
    const missing = missingMigrations(files, new Map(rows.map(({ name, sha256 }) => [name, sha256])))
    for (const file of missing) await applyMigration(client, schema, file)
    return missing.map(({ name }) => name)
  } finally {
    // The session carries the lock and the changed timeout; closing it gives both back, whatever state it is in.
    client.release(true)
  }
}

type Migration = { name: string; sql: string; sha256: string }

async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const misnamed = names.find((name) => !/^\d{3}_\w+\.sql$/.test(name))
  if (misnamed !== undefined) throw new Error(`the migration ${misnamed} is not named like 001_name.sql`)
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(fileURLToPath(directory), name), 'utf8')
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

function missingMigrations(files: Migration[], applied: ReadonlyMap<string, string>): Migration[] {
  const changed = files.find(({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256)
  if (changed !== undefined) throw new Error(`the migration ${changed.name} was changed after it was applied`)
  const missing = files.filter(({ name }) => !applied.has(name))
  const latestApplied = [...applied.keys()].sort().at(-1)
  const late = missing.find(({ name }) => latestApplied !== undefined && name < latestApplied)
  if (late !== undefined)
    throw new Error(`the migration ${late.name} comes before ${latestApplied}, which was applied already`)
  return missing
}

async function applyMigration(client: pg.PoolClient, schema: string, { name, sql, sha256 }: Migration): Promise<void> {
  try {
    await client.query('begin')
    await client.query(`set local search_path to ${schema}, public`)
    await client.query(sql)
    await client.query(`insert into ${schema}.migrations (name, sha256) values ($1, $2)`, [name, sha256])
    await client.query('commit')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the migration ${name} failed: ${reason}`, { cause: error })
  }
}

async function tryLock(client: pg.Client, key: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [key])
  return rows[0]?.held === true
}

/** The 64-bit key of a named advisory lock, as text for a `bigint` parameter. */
export function lockKey(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE(0).toString()
}
