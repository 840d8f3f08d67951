// The Postgres lock that makes a process the only active one.

import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { anySignal } from '../anySignal.ts'
import type { Logger } from '../telemetry/log.ts'
import { shareSession } from './sharedSession.ts'

const retryMs = 250

type LockOptions = {
  databaseUrl: string
  name: string
  onWaiting?: (() => void) | undefined
  signal: AbortSignal
  log: Logger
}

/**
 * Waits for a session lock and holds it, which makes the holder the only active process.
 *
 * The session is probed every two seconds, so that a disconnected holder notices when its standby takes over.
 *
 * @param options `name` is hashed to the lock's key; `onWaiting` is called when another process holds the lock, and may throw
 *   to end the wait; aborting `signal` ends it too
 * @returns `lost` aborts when the session, and the lock with it, is lost
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
  const session = await shareSession(databaseUrl)
  const lost = new AbortController()
  const lose = () => {
    log.error({ err: session.lost.reason, lock: name }, 'a lock was lost')
    lost.abort(new Error(`the lock ${name} was lost`, { cause: session.lost.reason }))
  }
  try {
    // Polls, because a wait in the server could not be cancelled cleanly.
    for (let attempts = 0; !(await session.tryLock(key)); attempts += 1) {
      if (attempts === 0) {
        log.info({ lock: name }, 'another process holds the lock, waiting for it')
        onWaiting?.()
      }
      await setTimeout(retryMs, undefined, { signal: anySignal(signal, session.lost) })
    }
    signal.throwIfAborted()
    session.lost.throwIfAborted()
  } catch (error) {
    await session.leave()
    throw signal.aborted ? signal.reason : error
  }
  session.lost.addEventListener('abort', lose)
  return {
    lost: lost.signal,
    async release() {
      session.lost.removeEventListener('abort', lose)
      await session.leave()
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

/** The 64-bit key of a named advisory lock, as text for a `bigint` parameter. */
export function lockKey(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE(0).toString()
}
