// Looks for keys that other processes have destroyed, because a notification may have been lost.
import { setTimeout as sleep } from 'node:timers/promises'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { KeyCache } from './keyCache.ts'

/** `destroyed_at` is when the transaction started. It may be committed this much later. */
const commitDelaySeconds = 60
const pauseMs = 1_000

/** @param maxAgeMs nothing is sealed with keys that were compared with Postgres longer ago */
export function createSweeper(pool: Pool, cache: KeyCache, maxAgeMs: number) {
  // Nothing is cached yet.
  let sweptAt = performance.now()
  let sweeping: Promise<void> | undefined

  async function sweep(): Promise<void> {
    const startedAt = performance.now()
    const seconds = (startedAt - sweptAt) / 1_000 + commitDelaySeconds
    const { rows } = await pool.query<{ id: string }>(
      'select id from privacy.keys where destroyed_at > now() - make_interval(secs => $1)',
      [seconds],
    )
    for (const { id } of rows) if (cache.known(id) !== undefined) cache.destroyed(id)
    sweptAt = startedAt
  }

  const sweepOnce = () => {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined
    })
    return sweeping
  }

  return {
    /** Whether the cached keys are recent enough to seal with. */
    isRecent: () => performance.now() - sweptAt <= maxAgeMs,
    /** @throws errors of Postgres */
    sweep: sweepOnce,
    /** Sweeps again and again until the signal aborts. */
    run: ({ everyMs, signal, log }: { everyMs: number; signal: AbortSignal; log: Logger }) =>
      keepRunning(
        async () => {
          await sleep(everyMs, undefined, { signal })
          await sweepOnce()
        },
        {
          signal,
          pauseMs,
          onError: (error) => log.warn({ err: error }, 'destroyed keys cannot be looked for, trying again'),
        },
      ),
  }
}
