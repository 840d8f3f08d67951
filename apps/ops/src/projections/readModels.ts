// The database of the read models, and the locks of rebuilds and verifications.
import type { Writable } from 'node:stream'
import { lockKey } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { OpsError } from '../command.ts'
import { opsPool, type Pool } from '../database.ts'

export type ReadModels = { readonly databaseUrl: string; readonly pool: Pool; readonly log: Logger }

/** Three at the same time for a rebuild or a verification, and one for queries meanwhile. */
const maxConnections = 4

/**
 * Runs `work` with the database of the read models.
 * @param databaseUrl may come from `withLockTimeout`
 * @throws OpsError when its tables have another version; errors of `work` and of the database
 */
export async function withReadModels<Result>(
  databaseUrl: string,
  errors: Writable,
  work: (readModels: ReadModels) => Promise<Result>,
): Promise<Result> {
  // Connection problems also fail the work. They must not be logged between lines of progress.
  const { pool, log } = opsPool(databaseUrl, { max: maxConnections, errors, level: 'fatal' })
  try {
    const { rows } = await pool.query<{ ready: boolean }>(
      "select to_regclass('read_models.tables') is not null as ready",
    )
    if (rows[0]?.ready !== true)
      throw new OpsError(
        'The read model tables of this database have another version: run `npm run -s ops -- migrate` first',
      )
    return await work({ databaseUrl, pool, log })
  } finally {
    await pool.end()
  }
}

/** The same database with a lock timeout: statements that wait longer fail with code 55P03. */
export function withLockTimeout(databaseUrl: string, lockTimeoutMs: number): string {
  const url = new URL(databaseUrl)
  const own = url.searchParams.get('options')
  url.searchParams.set('options', [...(own === null ? [] : [own]), `-c lock_timeout=${lockTimeoutMs}`].join(' '))
  return url.href
}

/** The given locks that are held: see `holdLock`. */
export async function heldLocks(pool: Pool, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select name from unnest($1::text[], $2::bigint[]) as wanted (name, key)
     where exists (
       select from pg_locks
       where locktype = 'advisory' and granted and objsubid = 1
       and database = (select oid from pg_database where datname = current_database())
       and classid::bigint << 32 | objid::bigint = key
     )`,
    [names, names.map(lockKey)],
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * Runs work that starts by taking a lock, and stops when the lock is held elsewhere.
 * @param work takes the lock with this signal, and calls `onWaiting` when another process holds it
 * @returns `busy` then
 */
export async function unlessBusy<Result>(
  signal: AbortSignal,
  work: (locking: { readonly signal: AbortSignal; readonly onWaiting: () => void }) => Promise<Result>,
): Promise<Result | 'busy'> {
  const busyAbort = new AbortController()
  try {
    return await work({ signal: AbortSignal.any([signal, busyAbort.signal]), onWaiting: () => busyAbort.abort() })
  } catch (error) {
    if (busyAbort.signal.aborted) return 'busy'
    throw error
  }
}
