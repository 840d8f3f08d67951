// The Postgres lock that makes a process the only active one.

import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { anySignal } from '../anySignal.ts'
import type { Logger } from '../telemetry/log.ts'
import { connectSession, createSessionClient } from './session.ts'

const connectTimeoutMs = 5_000
const retryMs = 250
const probeMs = 2_000
const queryTimeoutMs = 3_000

type LockOptions = {
  databaseUrl: string
  name: string
  onWaiting?: (() => void) | undefined
  signal: AbortSignal
  log: Logger
}

/**
 * Waits for a session lock and holds it on its own connection, which makes the holder the only active process.
 *
 * The connection is probed every two seconds, so that a disconnected holder notices when its standby takes over.
 *
 * @param options `name` is hashed to the lock's key; `onWaiting` is called when another process holds the lock, and may throw
 *   to end the wait; aborting `signal` ends it too
 * @returns `lost` aborts when the connection, and the lock with it, is lost
 * @throws the signal's reason when it aborts first
 */
export async function holdLock({
  databaseUrl,
  name,
  onWaiting,
  signal,
  log,
}: LockOptions): Promise<{ lost: AbortSignal; release(): Promise<void> }> {
  const key = lockKey(name)
  const client = createSessionClient({
    databaseUrl,
    application_name: `lock ${name}`.slice(0, 63),
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  })
  const lost = new AbortController()
  let isReleased = false
  // pg closes the connection at once when a query is in flight, and fails the query: after a release this is no loss.
  const lose = (message: string, cause?: unknown) => {
    if (!isReleased) lost.abort(new Error(message, { cause }))
  }
  client.on('error', (error) => lose(`the connection that held the lock ${name} was lost`, error))
  client.on('end', () => lose(`the connection that held the lock ${name} was closed`))
  try {
    await connectSession(client)
    // Polls, because a wait in the server could not be cancelled cleanly.
    for (let attempts = 0; !(await tryLock(client, key)); attempts += 1) {
      if (attempts === 0) {
        log.info({ lock: name }, 'another process holds the lock, waiting for it')
        onWaiting?.()
      }
      await setTimeout(retryMs, undefined, { signal: anySignal(signal, lost.signal) })
    }
    signal.throwIfAborted()
  } catch (error) {
    await client.end().catch(() => undefined)
    throw signal.aborted ? signal.reason : error
  }
  const probe = setInterval(() => {
    client.query('select 1').catch((error: unknown) => lose(`the lock ${name} was lost`, error))
  }, probeMs)
  lost.signal.addEventListener('abort', () => {
    clearInterval(probe)
    log.error({ err: lost.signal.reason, lock: name }, 'a lock was lost')
    // If the server still holds the lock, ending the session releases it.
    client.end().catch(() => undefined)
  })
  return {
    lost: lost.signal,
    async release() {
      isReleased = true
      clearInterval(probe)
      await client.end().catch(() => undefined)
    },
  }
}

/** Runs work while it holds the lock: see `holdLock`. @param work gets a signal that aborts when the lock is lost */
export async function withLock<Result>(
  options: LockOptions,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lock = await holdLock(options)
  try {
    return await work(lock.lost)
  } finally {
    await lock.release()
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
