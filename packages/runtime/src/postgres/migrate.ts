// Applies numbered SQL migrations.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { lockKey } from './lock.ts'

/** How long a migration may block others while it waits for a lock. */
const lockTimeoutMs = 1_000
/** The pause before the next attempt, which lets others proceed. */
const lockPauseMs = 1_000
const defaultLockRetryTimeoutMs = 300_000
const lockNotAvailable = '55P03'
const connectionCheckMs = 2_000
const otherVersion = 'another version of Paylog made these tables: use it, or a new database or DATA_DIR'

/**
 * Applies the numbered `.sql` files of a directory (`001_name.sql`, …) that the schema lacks, forward only, each in
 * its own transaction with the schema first in its `search_path`. Processes that start together wait for each other. The
 * unfinished file of a killed process is rolled back, and applied by the next call.
 *
 * Rules for such files, because programs of the previous version run while they are applied, and until the last of them is
 * replaced:
 * - A file only adds: tables, views, indexes, columns that are nullable or have a constant default, columns at the end
 *   of a view. Everything that the previous version uses keeps its name, type and meaning. Unused objects are dropped
 *   one version after the one that stopped using them.
 * - A constraint on a table in use is added `not valid`, and validated by the next file, which blocks no queries.
 * - Locks on objects in use are held briefly. If a lock is not available within a second, the whole file is rolled back and
 *   retried after a pause, because a waiting lock blocks all later ones. So each file changes one such table, and slow
 *   backfills have their own file.
 * - An operator creates an index on a large table in use before the version that needs it, with
 *   `create index concurrently if not exists`, which cannot run in a transaction; the file then uses `if not exists` too.
 * - A file may run twice: it has no effects outside the transaction.
 * - A released file never changes; a later file fixes its mistakes.
 *
 * @param options `finish` runs last on every call, in a transaction like a file's, and returns the names of what it did;
 *   `lockRetryTimeoutMs` is how long a file that gets no lock is retried
 * @returns the names applied by this call
 * @throws Error when a file fails, was changed after it was applied, or precedes the last applied one
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
    // Waiting for another process, or indexing a large table, may take longer than the pool's statement timeout.
    await client.query('set statement_timeout = 0')
    // Otherwise a killed process would hold the lock until its statement ends. Not every platform supports this.
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
      inRetriedTransaction(client, schema, options.lockRetryTimeoutMs ?? defaultLockRetryTimeoutMs, work)
    for (const file of missing)
      await inRetriedTransactionOfSchema(() => applyMigration(client, schema, file)).catch(throwMigrationError(file))
    const finished = await inRetriedTransactionOfSchema(async () => (await options.finish?.(client)) ?? [])
    return [...missing.map(({ name }) => name), ...finished]
  } finally {
    // Closing the session releases the lock and resets the timeout, in any state.
    client.release(true)
  }
}

type Migration = { name: string; sql: string; sha256: string }

async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const misnamed = names.find((name) => !/^\d{3}_\w+\.sql$/.test(name))
  if (misnamed !== undefined) throw new Error(`the migration ${misnamed} must have a name like 001_name.sql`)
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(fileURLToPath(directory), name), 'utf8')
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

function missingMigrations(files: Migration[], applied: ReadonlyMap<string, string>): Migration[] {
  const changed = files.find(({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256)
  if (changed !== undefined)
    throw new Error(`the migration ${changed.name} was changed after it was applied; ${otherVersion}`)
  const missing = files.filter(({ name }) => !applied.has(name))
  const latestApplied = [...applied.keys()].sort().at(-1)
  const late = missing.find(({ name }) => latestApplied !== undefined && name < latestApplied)
  if (late !== undefined)
    throw new Error(`the migration ${late.name} precedes ${latestApplied}, which has been applied; ${otherVersion}`)
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

/** A transaction that is retried when a lock is not available, so that others do not queue behind it. */
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
      // Fails on a lost connection, which has nothing to roll back.
      await client.query('rollback').catch(() => undefined)
      const isLocked = error instanceof Error && 'code' in error && error.code === lockNotAvailable
      if (!isLocked || performance.now() > giveUpAt) throw error
    }
    await setTimeout(lockPauseMs)
  }
}
