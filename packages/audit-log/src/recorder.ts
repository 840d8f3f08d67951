// Keeps the log's tree: appends every event to it, signs checkpoints, and records and publishes them.

import type { EventStore } from '@paylog/event-store/eventStore'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { anySignal } from '@paylog/runtime/anySignal'
import { holdLock } from '@paylog/runtime/postgres/lock'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Signing } from './config.ts'
import { type Deliver, keepDelivering, type Place, recordInLog } from './delivery.ts'
import { createMemory, InconsistentTreeError, publishedSource, searchLog, storedSource } from './remembered.ts'
import { createSigner, signInTime } from './signer.ts'
import { IncompleteTreeError } from './tiles.ts'
import { createTreeWriter, recordTreeStopped, type TreeWriter } from './treeWriter.ts'

/** The state of a recorder, for health checks. */
export type RecorderState = {
  role:
    | 'starting'
    /** Another process keeps the tree; this one waits to take over. */
    | 'standing by'
    | 'running'
    /** Because the log is not that of the tree, or the tree does not extend what was signed. */
    | 'stopped'
  /** Whether the log can be read. */
  isConnected: boolean
}

export const startingRecorder = (): RecorderState => ({ role: 'starting', isConnected: false })

/** The name of the lock of the process that keeps the tree. */
const treeLock = 'audit log'

const maxBatch = 500
/** Pause before running again after an error. */
const pauseMs = 1_000

type Options = {
  readonly databaseUrl: string
  readonly pool: Pool
  readonly store: Pick<EventStore, 'followRaw' | 'handle' | 'checkpointBefore' | 'readBackwards'>
  /** Undefined without a key: the tree is kept, and nothing is signed. */
  readonly signing: Signing | undefined
  /** Updated in place. */
  readonly state?: RecorderState
  readonly signal: AbortSignal
  readonly log: Logger
}

type RunningOptions = Options & { readonly state: RecorderState }

/**
 * Holds the tree's lock and keeps the tree until the signal aborts, or waits for the lock as a standby. It survives a lost
 * lock, database or event store.
 *
 * At a log that is not the tree's, and at a tree that does not extend what was signed, it stops, and looks every second whether
 * that has changed.
 */
export async function runRecorder(options: Options): Promise<void> {
  const { signal, signing, state = startingRecorder() } = options
  const log = options.log.child({ tree: treeLock })
  if (signing === undefined) log.info('AUDIT_SIGNING_KEY is not set: no checkpoints of the log are signed')
  else if (signing.stateFile === undefined && signing.readPublished === undefined)
    log.warn(
      { action: 'set AUDIT_STATE_FILE or AUDIT_CHECKPOINT_URL' },
      'nothing outside of Postgres and the log remembers what was signed: who can write to both can have another history signed',
    )
  await keepRunning(() => holdTree({ ...options, state, log }), {
    signal,
    pauseMs,
    onError: (err) => {
      if (isFinal(err)) log.fatal({ err, action: stoppedAction }, 'the tree of the log has stopped')
      else log.warn({ err, pauseMs }, 'could not keep the tree of the log, trying again')
    },
  })
}

const stoppedAction =
  'keep a copy of Postgres and of the log, and run "ops audit verify"; docs/audit.md, "After the log was cut or restored"'

const isFinal = (error: unknown) =>
  error instanceof LogMismatchError || error instanceof InconsistentTreeError || error instanceof IncompleteTreeError

async function holdTree(options: RunningOptions): Promise<void> {
  const { databaseUrl, state, signal, log } = options
  if (state.role !== 'stopped') state.role = 'starting'
  const onWaiting = () => {
    state.role = 'standing by'
  }
  const lock = await holdLock({ databaseUrl, name: treeLock, onWaiting, signal, log })
  try {
    await keepTree({ ...options, signal: anySignal(signal, lock.lost) })
  } catch (error) {
    if (isFinal(error)) await recordStop(options, error)
    throw error
  } finally {
    state.isConnected = false
    await lock.release()
  }
}

async function recordStop({ pool, state, log }: RunningOptions, error: unknown): Promise<void> {
  state.role = 'stopped'
  await recordTreeStopped(pool, error instanceof Error ? error.message : String(error)).catch((err: unknown) =>
    log.error({ err }, 'could not store why the tree has stopped'),
  )
}

async function keepTree(options: RunningOptions): Promise<void> {
  const { pool, store, signing, signal, log } = options
  const writer = createTreeWriter(pool)
  if (signing === undefined) return await follow(options, writer, { onBatch: async () => {}, signedSize: () => 0 })
  const sources = [storedSource(pool), await searchLog(store, signing), ...publishedSource(signing, signal, log)]
  const memory = createMemory(signing, sources)
  await writer.start()
  const signer = await createSigner(options, memory, writer)
  const { publish, verifiers, intervalMs } = signing
  const deliver = (place: Place, work: Deliver) => (signal: AbortSignal) =>
    keepDelivering({ pool, place, deliver: work, verifiers, signal, log })
  await runTogether(signal, [
    (signal) => follow({ ...options, signal }, writer, { onBatch: signer.signLarge, signedSize: memory.newestSize }),
    (signal) => signInTime({ pool, signer, intervalMs, signal }),
    deliver('recorded_at', (checkpoint) => recordInLog(store, checkpoint)),
    ...(publish === undefined
      ? []
      : [
          deliver('published_at', (checkpoint, signal) =>
            publish({ ...checkpoint, isLatest: checkpoint.size >= memory.newestSize() }, signal),
          ),
        ]),
  ])
}

async function follow(
  { pool, store, state, signal, log }: RunningOptions,
  writer: TreeWriter,
  { onBatch, signedSize }: { readonly onBatch: () => Promise<void>; readonly signedSize: () => number },
): Promise<void> {
  await store.followRaw({
    name: treeLock,
    start: () => writer.start(),
    handle: async (batch) => {
      await writer.append(batch)
      await onBatch()
    },
    maxBatch,
    connected: (isConnected) => {
      state.isConnected = isConnected
      // What has stopped it may show again when the tree is as large as what was signed.
      const isOver = state.role !== 'stopped' || writer.head().size >= signedSize()
      if (!isConnected || !isOver || state.role === 'running') return
      state.role = 'running'
      log.info('the tree of the log is kept')
      recordTreeStopped(pool, null).catch((err: unknown) =>
        log.error({ err }, 'could not store that the tree continues'),
      )
    },
    signal,
    log,
  })
}

/** Runs all until the signal aborts or one fails, which stops the others. @throws the first error */
async function runTogether(
  signal: AbortSignal,
  tasks: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const stopping = new AbortController()
  let failure: { readonly error: unknown } | undefined
  await Promise.all(
    tasks.map((task) =>
      task(anySignal(signal, stopping.signal)).catch((error: unknown) => {
        failure ??= { error }
        stopping.abort()
      }),
    ),
  )
  if (failure !== undefined) throw failure.error
}
