// Runs one projection: holds its lock, applies the log to the live table, and rebuilds outdated tables.

/** The state of a projection's runner, for health checks. */
import { setTimeout as sleep } from 'node:timers/promises'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { holdLock } from '@paylog/runtime/postgres/lock'
import type { createPool } from '@paylog/runtime/postgres/pool'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createApplier } from './apply/applier.ts'
import { CheckpointLostError, checkpointName, recordStopped } from './apply/checkpoints.ts'
import type { Projection } from './projection.ts'
import { rebuildOutdated } from './rebuild/rebuild.ts'
import { liveTable } from './tables/tables.ts'

export type RunnerState = {
  role:
    | 'starting'
    /** Another process runs the projection; this one waits to take over. */
    | 'standing by'
    | 'running'
    /** The live table has an older schema version; a new one is being filled. */
    | 'rebuilding'
    /** The live table has a newer schema version, which only a newer program can keep up to date. */
    | 'outdated'
    /** At an unreadable event. */
    | 'stopped'
  /** Whether the event store has started to send events. */
  isConnected: boolean
}

export const startingState = (): RunnerState => ({ role: 'starting', isConnected: false })

const maxBatch = 500
/** Pause before running again after a database error. */
const pauseMs = 1_000
/** Pause before a failed rebuild starts again from the beginning. */
const rebuildPauseMs = 30_000
/** How often a program that is older than the live table checks whether that has changed. */
const outdatedPauseMs = 5_000

type Options = {
  readonly databaseUrl: string
  readonly pool: ReturnType<typeof createPool>
  readonly store: EventStore
  readonly projection: Projection
  /** Its event `awaited` signals that a read waits for this projection. */
  readonly awaited: EventTarget
  /** Updated in place. */
  readonly state?: RunnerState
  /** Called with the number of applied events. */
  readonly applied?: (count: number) => void
  readonly signal: AbortSignal
  readonly log: Logger
}

type RunningOptions = Options & { readonly state: RunnerState }

/** The name of the lock of the process that applies the log to the live table. */
export const projectionLock = ({ name }: Pick<Projection, 'name'>) => `projection ${name}`

/**
 * Holds the projection's lock and applies the log to its live table, or waits for the lock as a standby. It survives a lost
 * lock, database or event store, and follows switches of the live table. A table with an older schema version is rebuilt
 * first; one with a newer version is left to newer programs.
 * @throws UnreadableEventError when the log contains an event that cannot be decoded; the checkpoint stores the reason
 */
export async function runProjection(options: Options): Promise<void> {
  const { projection, signal, state = startingState() } = options
  const log = options.log.child({ projection: projection.name })
  const running = { ...options, state, log }
  await keepRunning(() => runLiveTable(running), {
    signal,
    pauseMs,
    isFinal: (error) => error instanceof UnreadableEventError,
    onError: (error) => log.warn({ err: error, pauseMs }, 'could not run the projection, trying again'),
  }).catch(async (error: UnreadableEventError) => {
    await logStop(running, error)
    throw error
  })
}

/** Runs until another table becomes live, or the live table cannot be kept up to date. */
async function runLiveTable(options: RunningOptions): Promise<void> {
  const { databaseUrl, pool, projection, state, signal, log } = options
  const live = await liveTable(pool, projection)
  if (live === undefined) throw new Error('No live table: run the migrations first')
  if (live.schema_version > projection.schemaVersion) {
    state.role = 'outdated'
    log.warn(
      { live: live.schema_version, known: projection.schemaVersion },
      'the live table belongs to a newer program, waiting',
    )
    await sleep(outdatedPauseMs, undefined, { signal }).catch(() => undefined)
    return
  }
  if (live.schema_version < projection.schemaVersion) {
    state.role = 'rebuilding'
    log.info(
      { live: live.schema_version, known: projection.schemaVersion },
      'the live table is outdated, rebuilding it',
    )
    await rebuildWithRetry(options)
    return
  }
  state.role = 'starting'
  const waiting = () => {
    state.role = 'standing by'
  }
  const lock = await holdLock({ databaseUrl, name: projectionLock(projection), onWaiting: waiting, signal, log })
  try {
    // The live table may have changed while this process waited for the lock.
    const held = await liveTable(pool, projection)
    if (held?.schema_version === projection.schemaVersion) {
      await applyLog({ ...options, signal: AbortSignal.any([signal, lock.lost]) }, held.version)
    }
  } finally {
    await lock.release()
  }
}

async function rebuildWithRetry(options: RunningOptions): Promise<void> {
  const { signal, log } = options
  try {
    await rebuildOutdated(options)
  } catch (error) {
    if (error instanceof UnreadableEventError || signal.aborted) throw error
    log.error({ err: error, pauseMs: rebuildPauseMs }, 'could not rebuild the table, trying again')
    await sleep(rebuildPauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Runs until the signal aborts, or the table is no longer live. */
async function applyLog(options: RunningOptions, version: number): Promise<void> {
  const { pool, store, projection, awaited, state, signal, log } = options
  const applier = createApplier({ pool, projection, version })
  const lost = new AbortController()
  const stopWhenLost = <Result>(work: Promise<Result>) =>
    work.catch((error: unknown) => {
      if (error instanceof CheckpointLostError) lost.abort(error)
      throw error
    })
  log.info({ version }, 'projection runs')
  state.role = 'running'
  await store.follow({
    name: checkpointName(projection, version),
    streamPrefixes: projection.streamPrefixes,
    start: () => stopWhenLost(applier.start()),
    handle: async (batch) => {
      await stopWhenLost(applier.apply(batch))
      options.applied?.(batch.events.length)
    },
    maxBatch,
    awaited,
    connected: (isConnected) => {
      state.isConnected = isConnected
    },
    signal: AbortSignal.any([signal, lost.signal]),
    log,
  })
  if (lost.signal.aborted)
    log.info({ version, reason: String(lost.signal.reason) }, 'stopped applying events to the table')
}

/** Logs an unreadable event and stores the reason beside the live table, which stays as it was before that event. */
async function logStop({ pool, projection, state, log }: RunningOptions, error: UnreadableEventError): Promise<void> {
  state.role = 'stopped'
  log.fatal({ err: error, ...error.ids }, 'the projection stops at an unreadable event')
  try {
    const live = await liveTable(pool, projection)
    // A table with an older schema version belongs to an older program, which may be able to read the event.
    const isOurs = live !== undefined && live.schema_version === projection.schemaVersion
    if (isOurs) await recordStopped(pool, checkpointName(projection, live.version), error.message)
  } catch (err) {
    log.error({ err }, 'could not store why the projection stopped')
  }
}
