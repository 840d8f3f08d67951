// Postgres connections: pools with limits, the lock that makes a process the only active one.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Logger } from '../telemetry/log.ts'

const connectTimeoutMs = 5_000
const statementTimeoutMs = 15_000
const idleTimeoutMs = 30_000
const lockRetryMs = 250
const lockProbeMs = 2_000
const lockQueryTimeoutMs = 3_000
/** Of a migration: for how long others may have to wait behind it, and for how long it lets them pass. */
const lockTimeoutMs = 1_000
const lockPauseMs = 1_000
const lockRetryTimeoutMs = 300_000
const lockNotAvailable = '55P03'
const connectionCheckMs = 2_000

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
  queryTimeoutMs,
  log,
}: {
  databaseUrl: string
  applicationName: string
  max: number
  queryTimeoutMs?: number
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
    ...(queryTimeoutMs === undefined ? {} : { query_timeout: queryTimeoutMs }),
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
  onWaiting,
  signal,
  log,
}: {
  databaseUrl: string
  name: string
  onWaiting?: () => void
  signal: AbortSignal
  log: Logger
}): Promise<{ lost: AbortSignal; release(): Promise<void> }> {
  const key = lockKey(name)
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: `lock ${name}`.slice(0, 63),
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: lockQueryTimeoutMs,
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
    for (let attempts = 0; !(await tryLock(client, key)); attempts += 1) {
      if (attempts === 0) {
        log.info({ lock: name }, 'another process holds the lock, waiting for it')
        onWaiting?.()
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
 * transaction of its own with the schema first in its `search_path`. Processes that start together wait for each other; what
 * a killed one had begun is undone by Postgres, and done by whoever calls this next.
 *
 * The rules for whoever writes such a file, because the programs of the version before run while it is applied, and go on
 * until the last of them is replaced:
 * - It only adds: tables, views, indexes, columns that may be null or have a constant default, columns at the end of a view.
 *   What the version before reads or writes keeps its name, its type and its meaning. What nobody uses any more is dropped by
 *   a later version than the one that stopped using it.
 * - A constraint on a table that is in use is added `not valid`, and validated by the next file, which locks nobody out.
 * - Locks on what is in use are taken for moments. A lock that cannot be had within a second is given up with the whole
 *   file, which is tried again after a pause: whoever waits for a lock makes everybody wait who comes after him. So each
 *   file changes one such table, and fills it with what takes long in a file of its own.
 * - An index on a large table that is written to is made before the version that needs it, by an operator, with
 *   `create index concurrently if not exists`, which no transaction may hold; the file then says `if not exists` too.
 * - It may be tried twice: nothing in it acts outside of the transaction.
 * - Once released it is never changed; a mistake is mended by the next file.
 *
 * @param options `finish` is called last, on the same terms as a file, every time; it returns the names of what it did;
 *   `lockPatienceMs` is how long locks that others hold are asked for again
 * @returns the names applied by this call
 * @throws when a file fails, when a file was changed after it was applied, or when one was added before the last one applied
 */
export async function migrate(
  pool: pg.Pool,
  options: {
    schema: string
    directory: URL
    finish?: (client: pg.ClientBase) => Promise<string[]>
    lockRetryTimeoutMs?: number
  },
): Promise<string[]> {
  const files = await readMigrations(options.directory)
  const schema = pg.escapeIdentifier(options.schema)
  const client = await pool.connect()
  try {
    // Waiting for another process, or building an index over a big table, may take longer than any request should.
    await client.query('set statement_timeout = 0')
    // Or a process that was killed would hold the lock until its last statement is done. Not every server can look.
    await client.query(`set client_connection_check_interval = ${connectionCheckMs}`).catch(() => undefined)
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
    const inRetriedTransactionOfSchema = <Result>(work: () => Promise<Result>) =>
      inRetriedTransaction(client, schema, options.lockRetryTimeoutMs ?? lockRetryTimeoutMs, work)
    for (const file of missing)
      await inRetriedTransactionOfSchema(() => applyMigration(client, schema, file)).catch(throwMigrationError(file))
    const finished = await inRetriedTransactionOfSchema(async () => (await options.finish?.(client)) ?? [])
    return [...missing.map(({ name }) => name), ...finished]
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
  await client.query(sql)
  await client.query(`insert into ${schema}.migrations (name, sha256) values ($1, $2)`, [name, sha256])
}

function throwMigrationError({ name }: Migration): (error: unknown) => never {
  return (error) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the migration ${name} failed: ${reason}`, { cause: error })
  }
}

/** A transaction that begins again while others hold locks that it needs, so that nobody has to queue up behind it. */
async function inRetriedTransaction<Result>(
  client: pg.PoolClient,
  schema: string,
  retryTimeoutMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const giveUpAt = performance.now() + retryTimeoutMs
  for (;;) {
    await client.query('begin')
    try {
      await client.query(`set local search_path to ${schema}, public; set local lock_timeout = ${lockTimeoutMs}`)
      const result = await work()
      await client.query('commit')
      return result
    } catch (error) {
      // A connection that is lost has nothing left to undo.
      await client.query('rollback').catch(() => undefined)
      const isLocked = error instanceof Error && 'code' in error && error.code === lockNotAvailable
      if (!isLocked || performance.now() > giveUpAt) throw error
    }
    await setTimeout(lockPauseMs)
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
