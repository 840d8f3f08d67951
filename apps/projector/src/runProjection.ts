// Runs one projection: as the only one that does, from its checkpoint, until told to stop.
import { setTimeout as sleep } from 'node:timers/promises'
import { UnreadableEventError } from '@paylog/event-store/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { runSubscription } from '@paylog/event-store/subscription'
import { createApplier } from '@paylog/projections/applier'
import { checkpointName, noteStopped } from '@paylog/projections/checkpoints'
import type { Projection } from '@paylog/projections/projection'
import type { Logger } from '@paylog/runtime/log'
import { type createPool, holdLock } from '@paylog/runtime/postgres'

const maxBatch = 500
/** Between two attempts to get the lock, when the database does not even let us ask. */
const lockPauseMs = 1_000

/**
 * Holds the projection's lock and applies the log to its table; a standby waits for the lock. A lost lock, database or
 * event store is waited out.
 * @throws UnreadableEventError when the log holds an event that cannot be read; the checkpoint then says so.
 */
export async function runProjection(options: {
  readonly databaseUrl: string
  readonly pool: ReturnType<typeof createPool>
  readonly store: EventStore
  readonly projection: Projection
  /** Its event `awaited` says that a read waits for this projection. */
  readonly awaited: EventTarget
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { databaseUrl, pool, store, projection, awaited, signal } = options
  const name = checkpointName(projection, projection.version)
  const log = options.log.child({ projection: name })
  while (!signal.aborted) {
    try {
      const lock = await holdLock({ databaseUrl, name: `projection ${name}`, signal, log })
      try {
        log.info('projection runs')
        await subscribe(AbortSignal.any([signal, lock.lost]))
      } finally {
        await lock.release()
      }
    } catch (error) {
      if (error instanceof UnreadableEventError) return await stopLoudly(error)
      if (signal.aborted) return
      log.warn({ err: error, pauseMs: lockPauseMs }, 'the projection could not run, trying again')
      await sleep(lockPauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async function subscribe(running: AbortSignal): Promise<void> {
    const applier = createApplier({ pool, projection, version: projection.version })
    await runSubscription({
      store,
      name,
      streamPrefixes: projection.streamPrefixes,
      start: applier.start,
      handle: applier.apply,
      maxBatch,
      awaited,
      signal: running,
      log,
    })
  }

  async function stopLoudly(error: UnreadableEventError): Promise<never> {
    log.fatal({ err: error }, 'the projection stops at an event that it cannot read')
    await noteStopped(pool, name, error.message).catch((err: unknown) =>
      log.error({ err }, 'could not note that the projection stopped'),
    )
    throw error
  }
}
