// The database of the read models, and who does something to a projection there.
import type { Writable } from 'node:stream'
import { lockKey } from '@paylog/runtime/postgres/postgres'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { OpsError } from '../command.ts'
import { opsPool, type Pool } from '../database.ts'

export type ReadModels = { readonly databaseUrl: string; readonly pool: Pool; readonly log: Logger }

/** A rebuild and a verification use three at the same time; one more asks meanwhile. */
const maxConnections = 4

/**
 * Does work on it.
 * @param databaseUrl where it is, perhaps with `impatient`
 * @throws OpsError when its tables are not of this version; what the work throws, and the database's errors
 */
export async function withReadModels<Result>(
  databaseUrl: string,
  errors: Writable,
  work: (readModels: ReadModels) => Promise<Result>,
): Promise<Result> {
  // Whatever goes wrong is told by the error of the work as well, in words and not between the lines of the progress.
  const { pool, log } = opsPool(databaseUrl, { max: maxConnections, errors, level: 'fatal' })
  try {
    const { rows } = await pool.query<{ ready: boolean }>(
      "select to_regclass('read_models.tables') is not null as ready",
    )
    if (rows[0]?.ready !== true)
      throw new OpsError(
        'The read models of this database are not of this version: run `npm run -s ops -- migrate` first',
      )
    return await work({ databaseUrl, pool, log })
  } finally {
    await pool.end()
  }
}

/** The same database for statements that give up when they do not get what they lock in this time, with code 55P03. */
export function withLockTimeout(databaseUrl: string, lockTimeoutMs: number): string {
  const url = new URL(databaseUrl)
  const own = url.searchParams.get('options')
  url.searchParams.set('options', [...(own === null ? [] : [own]), `-c lock_timeout=${lockTimeoutMs}`].join(' '))
  return url.href
}

/** Those of these locks that somebody holds: see `holdLock`. */
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
 * Does work that begins by taking a lock, and refuses to wait for it.
 * @param work takes the lock with this signal, and calls `onWaiting` when somebody else has it
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
