// What the runner of a projection does at the moment, for those who ask.
import { setTimeout as sleep } from 'node:timers/promises'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { runSubscription } from '@paylog/event-store/subscription/subscription'
import { type createPool, holdLock } from '@paylog/runtime/postgres/postgres'
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
    /** Another process runs it, and this one waits to take over. */
    | 'standing by'
    | 'running'
    /** The live table is of an earlier definition; another one is being filled. */
    | 'rebuilding'
    /** The live table is of a later definition, which only a later program can keep up. */
    | 'outdated'
    /** At an event that cannot be read. */
    | 'stopped'
  /** Whether the event store has begun to send. */
  isConnected: boolean
}

export const startingState = (): RunnerState => ({ role: 'starting', isConnected: false })

// Runs one projection: as the only one that does, from its checkpoint, until told to stop.

const maxBatch = 500
/** Between two attempts to run, when the database does not even let us ask. */
const pauseMs = 1_000
/** Between two attempts to rebuild: each of them begins anew. */
const rebuildPauseMs = 30_000
/** How often a program that is older than the live table looks whether that has changed. */
const outdatedPauseMs = 5_000

type Options = {
  readonly databaseUrl: string
  readonly pool: ReturnType<typeof createPool>
  readonly store: EventStore
  readonly projection: Projection
  /** Its event `awaited` says that a read waits for this projection. */
  readonly awaited: EventTarget
  /** Is kept up with what happens here. */
  readonly state?: RunnerState
  /** Told how many events were applied. */
  readonly applied?: (count: number) => void
  readonly signal: AbortSignal
  readonly log: Logger
}

type RunningOptions = Options & { readonly state: RunnerState }

/** The name of the lock whose holder applies the log to the live table. */
export const projectionLock = ({ name }: Pick<Projection, 'name'>) => `projection ${name}`

/**
 * Holds the projection's lock and applies the log to its live table; a standby waits for the lock. A lost lock, database or
 * event store is waited out. When another table becomes the live one, it goes on with that. A live table of an earlier
 * definition is rebuilt first, and one of a later definition left to later programs.
 * @throws UnreadableEventError when the log holds an event that cannot be read; the checkpoint then says so.
 */
export async function runProjection(options: Options): Promise<void> {
  const { projection, signal, state = startingState() } = options
  const log = options.log.child({ projection: projection.name })
  const running = { ...options, state, log }
  await keepRunning(() => runLiveTable(running), {
    signal,
    pauseMs,
    isFinal: (error) => error instanceof UnreadableEventError,
    onError: (error) => log.warn({ err: error, pauseMs }, 'the projection could not run, trying again'),
  }).catch(async (error: UnreadableEventError) => {
    await stopLoudly(running, error)
    throw error
  })
}

/** Until the live table is another one, or cannot be run. */
async function runLiveTable(options: RunningOptions): Promise<void> {
  const { databaseUrl, pool, projection, state, signal, log } = options
  const live = await liveTable(pool, projection)
  if (live === undefined) throw new Error('there is no live table: migrate first')
  if (live.definition > projection.schemaVersion) {
    state.role = 'outdated'
    log.warn(
      { live: live.definition, known: projection.schemaVersion },
      'the live table is for a later program, waiting',
    )
    await sleep(outdatedPauseMs, undefined, { signal }).catch(() => undefined)
    return
  }
  if (live.definition < projection.schemaVersion) {
    state.role = 'rebuilding'
    log.info({ live: live.definition, known: projection.schemaVersion }, 'the live table is outdated, rebuilding it')
    await rebuildWithRetry(options)
    return
  }
  state.role = 'starting'
  const waiting = () => {
    state.role = 'standing by'
  }
  const lock = await holdLock({ databaseUrl, name: projectionLock(projection), onWaiting: waiting, signal, log })
  try {
    // It may be another one since the lock was asked for.
    const held = await liveTable(pool, projection)
    if (held?.definition === projection.schemaVersion) {
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
    log.error({ err: error, pauseMs: rebuildPauseMs }, 'the table could not be rebuilt, trying again')
    await sleep(rebuildPauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Until the signal aborts, or the table is not the live one any more. */
async function applyLog(options: RunningOptions, version: number): Promise<void> {
  const { pool, store, projection, awaited, state, signal, log } = options
  const applier = createApplier({ pool, projection, version })
  const left = new AbortController()
  const leaving = <Result>(work: Promise<Result>) =>
    work.catch((error: unknown) => {
      if (error instanceof CheckpointLostError) left.abort(error)
      throw error
    })
  log.info({ version }, 'projection runs')
  state.role = 'running'
  await runSubscription({
    store,
    name: checkpointName(projection, version),
    streamPrefixes: projection.streamPrefixes,
    start: () => leaving(applier.start()),
    handle: async (batch) => {
      await leaving(applier.apply(batch))
      options.applied?.(batch.events.length)
    },
    maxBatch,
    awaited,
    connected: (isConnected) => {
      state.isConnected = isConnected
    },
    signal: AbortSignal.any([signal, left.signal]),
    log,
  })
  if (left.signal.aborted) log.info({ version, reason: String(left.signal.reason) }, 'the table is left')
}

/** An event that cannot be read is noted beside the live table, which stays as it was before that event. */
async function stopLoudly(
  { pool, projection, state, log }: RunningOptions,
  error: UnreadableEventError,
): Promise<void> {
  state.role = 'stopped'
  log.fatal({ err: error, ...error.ids }, 'the projection stops at an event that it cannot read')
  try {
    const live = await liveTable(pool, projection)
    // A table of an earlier definition is kept up by an earlier program, which may be well.
    const isOurs = live !== undefined && live.definition === projection.schemaVersion
    if (isOurs) await recordStopped(pool, checkpointName(projection, live.version), error.message)
  } catch (err) {
    log.error({ err }, 'could not note that the projection stopped')
  }
}
