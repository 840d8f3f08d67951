// Runs one projection: applies the log to the live table, and rebuilds an outdated one beside it.

import { setTimeout as sleep } from 'node:timers/promises'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { anySignal } from '@paylog/runtime/anySignal'
import { withLock } from '@paylog/runtime/postgres/lock'
import type { createPool } from '@paylog/runtime/postgres/pool'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createApplier } from './apply/applier.ts'
import { CheckpointLostError, checkpointName, recordStopped } from './apply/checkpoints.ts'
import { erasedKeysIn } from './apply/erasing.ts'
import { upsertRows } from './apply/writers.ts'
import type { Projection } from './projection.ts'
import { pruneTables } from './rebuild/pruneTables.ts'
import { rebuildOutdated } from './rebuild/rebuild.ts'
import { fitToOlderTable, OlderTableError } from './tables/olderTable.ts'
import { liveTable, type ProjectionTable } from './tables/tables.ts'

/** The state of a projection's runner, for health checks. */
export type RunnerState = {
  role:
    | 'starting'
    /** Another process runs the projection; this one waits to take over. */
    | 'standing by'
    | 'running'
    /** The live table has a newer schema version, which only a newer program can keep up to date. */
    | 'outdated'
    /** The live table has an older schema version, which only an older program can keep up to date. */
    | 'frozen'
    /** At an unreadable event, or because the log is not the checkpoint's. */
    | 'stopped'
  /** Of a live table with an older schema version, beside the role. `waiting`: for another rebuild, perhaps in another process. */
  rebuild: 'none' | 'waiting' | 'running' | 'failing'
  /** Whether the log can be read. */
  isConnected: boolean
}

export const startingState = (): RunnerState => ({ role: 'starting', rebuild: 'none', isConnected: false })

const maxBatch = 500
/** Pause before running again after a database error. */
const pauseMs = 1_000
/** Pause before a failed rebuild continues. */
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
 * lock, database or event store, and follows switches of the live table. A table with an older schema version is kept up
 * to date too, while a new one is filled beside it; one with a newer version is left to newer programs.
 *
 * At a log that is not the checkpoint's it stops, and looks every second whether the table was rebuilt.
 * @throws UnreadableEventError when the log contains an event that cannot be decoded; the checkpoint stores the reason
 */
export async function runProjection(options: Options): Promise<void> {
  const { projection, state = startingState() } = options
  const log = options.log.child({ projection: projection.name })
  const stopping = new AbortController()
  const running = { ...options, state, log, signal: anySignal(options.signal, stopping.signal) }
  let replacing: Promise<void> | undefined
  const replaceOutdated = () => {
    replacing ??= replaceOutdatedTable(running).finally(() => {
      replacing = undefined
    })
  }
  try {
    await keepRunning(() => runLiveTable(running, replaceOutdated), {
      signal: options.signal,
      pauseMs,
      isFinal: (error) => error instanceof UnreadableEventError,
      onError: (error) => logFailure(log, projection, error),
    })
  } finally {
    stopping.abort()
    await replacing
  }
}

function logFailure(log: Logger, { name }: Projection, err: unknown): void {
  if (err instanceof OlderTableError) log.error({ err }, 'the lists stay as they are until the table is rebuilt')
  else if (err instanceof LogMismatchError)
    log.fatal({ err, action: `run "ops projections rebuild ${name}"` }, 'the projection has stopped')
  else log.warn({ err, pauseMs }, 'could not run the projection, trying again')
}

const turns = new WeakMap<object, Promise<unknown>>()

/** A rebuild waits for a session while it holds another one: several at a time could wait for each other in a small pool. */
function inTurn<Result>(pool: object, work: () => Promise<Result>): Promise<Result> {
  const result = (turns.get(pool) ?? Promise.resolve()).then(work)
  turns.set(
    pool,
    result.catch(() => undefined),
  )
  return result
}

/** Rebuilds a live table with an older schema version, trying until it succeeds or the signal aborts. */
async function replaceOutdatedTable(options: RunningOptions): Promise<void> {
  const { projection, state, log } = options
  const replaced = new AbortController()
  log.info({ known: projection.schemaVersion }, 'the live table is outdated, rebuilding it')
  const onWaiting = () => {
    state.rebuild = 'waiting'
  }
  const onProgress = () => {
    state.rebuild = 'running'
  }
  // One that failed is reported as such until it makes progress.
  if (state.rebuild === 'none') onWaiting()
  const rebuildOnce = async () => {
    const rebuilt = await inTurn(options.pool, () => rebuildOutdated({ ...options, onWaiting, onProgress }))
    if (rebuilt !== undefined) {
      const { version, events, resumedAfter } = rebuilt
      log.info({ version, events, resumedAfter: resumedAfter?.commit.toString() }, 'rebuilt the live table')
    }
    state.rebuild = 'none'
    replaced.abort()
  }
  await keepRunning(rebuildOnce, {
    signal: anySignal(options.signal, replaced.signal),
    pauseMs: rebuildPauseMs,
    onError: (error) => {
      state.rebuild = 'failing'
      log.error({ err: error, pauseMs: rebuildPauseMs }, 'could not rebuild the table, trying again')
    },
  })
}

/** Runs until another table becomes live, or the live table cannot be kept up to date. */
async function runLiveTable(options: RunningOptions, replaceOutdated: () => void): Promise<void> {
  const { databaseUrl, pool, projection, state, signal, log } = options
  const live = await liveTable(pool, projection)
  if (live === undefined) throw new Error('No live table: run the migrations first')
  const versions = { live: live.schema_version, known: projection.schemaVersion }
  if (versions.live > versions.known) {
    state.role = 'outdated'
    log.warn(versions, 'the live table belongs to a newer program, waiting')
    await sleep(outdatedPauseMs, undefined, { signal }).catch(() => undefined)
    return
  }
  if (versions.live < versions.known) replaceOutdated()
  if (state.role !== 'frozen' && state.role !== 'stopped') state.role = 'starting'
  const onWaiting = () => {
    state.role = 'standing by'
  }
  await withLock({ databaseUrl, name: projectionLock(projection), onWaiting, signal, log }, async (lost) => {
    // The live table may have changed while this process waited for the lock.
    const held = await liveTable(pool, projection)
    if (held === undefined || held.schema_version > projection.schemaVersion) return
    await applyLog({ ...options, signal: anySignal(signal, lost) }, held)
  })
}

/** Runs until the signal aborts, or the table is no longer live. */
async function applyLog(options: RunningOptions, { version, schema_version }: ProjectionTable): Promise<void> {
  const { pool, store, projection, awaited, state, signal, log } = options
  const isCurrent = schema_version === projection.schemaVersion
  const written = isCurrent ? projection : await fitOrFreeze(options, version)
  const applier = createApplier({
    ...{ pool, projection, version, source: store },
    writer: () => upsertRows(written, version),
  })
  const lost = new AbortController()
  const stopWhenLost = <Result>(work: Promise<Result>) =>
    work.catch((error: unknown) => {
      if (error instanceof CheckpointLostError) lost.abort(error)
      throw error
    })
  await store
    .follow({
      name: checkpointName(projection, version),
      streamPrefixes: projection.streamPrefixes,
      opens: projection.opens,
      start: () => stopWhenLost(applier.start()),
      handle: async (batch) => {
        if (erasedKeysIn(projection, batch.events) !== undefined) await dropUnkept(options)
        await stopWhenLost(applier.apply(batch))
        options.applied?.(batch.events.length)
      },
      maxBatch,
      awaited,
      connected: (isConnected) => {
        if (isConnected && state.role !== 'running') log.info({ version }, 'projection runs')
        if (isConnected) state.role = 'running'
        state.isConnected = isConnected
      },
      signal: anySignal(signal, lost.signal),
      log,
    })
    .catch(async (error: unknown) => {
      if (error instanceof UnreadableEventError || error instanceof LogMismatchError)
        await recordStop(options, version, error)
      throw error
    })
  if (lost.signal.aborted)
    log.info({ version, reason: String(lost.signal.reason) }, 'stopped applying events to the table')
}

/** Nobody applies an erasure to a table that was replaced or left unfinished. */
async function dropUnkept({ databaseUrl, pool, projection, signal, log }: RunningOptions): Promise<void> {
  const options = { databaseUrl, pool, log, projections: [projection], isDryRun: false, signal }
  for (const { version, because } of (await pruneTables(options)).left)
    if (because === 'being read') log.warn({ version }, 'a replaced table is being read: prune it to finish an erasure')
}

async function fitOrFreeze({ pool, projection, state }: RunningOptions, version: number): Promise<Projection> {
  try {
    return await fitToOlderTable(pool, projection, version)
  } catch (error) {
    if (error instanceof OlderTableError) state.role = 'frozen'
    throw error
  }
}

/** Stores the reason of a stop beside the table, which stays as it is. */
async function recordStop(
  options: RunningOptions,
  version: number,
  error: UnreadableEventError | LogMismatchError,
): Promise<void> {
  const { pool, projection, state, log } = options
  state.role = 'stopped'
  if (error instanceof UnreadableEventError)
    log.fatal({ err: error, ...error.ids }, 'the projection stops at an unreadable event')
  await recordStopped(pool, checkpointName(projection, version), error.message).catch((err: unknown) =>
    log.error({ err }, 'could not store why the projection stopped'),
  )
}
