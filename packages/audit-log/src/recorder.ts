// Keeps the log's tree: appends every event to it, signs checkpoints, and records and publishes them.
import { setTimeout as sleep } from 'node:timers/promises'
import { auditCheckpointFold, recordCheckpoint } from '@paylog/domain/auditCheckpoint'
import { type EventStore, newStream } from '@paylog/event-store/eventStore'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { auditCheckpointStream } from '@paylog/event-store/streamName'
import { holdLock } from '@paylog/runtime/postgres/lock'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Signing } from './config.ts'
import { InconsistentTreeError, requireConsistentTree, signCheckpoint } from './signing.ts'
import { readTree, type StoredCheckpoint, undeliveredCheckpoints } from './treeStore.ts'
import { createTreeWriter, recordTreeStopped, TreeLostError, type TreeWriter } from './treeWriter.ts'

/** The state of a recorder, for health checks. */
export type RecorderState = {
  role:
    | 'starting'
    /** Another process keeps the tree; this one waits to take over. */
    | 'standing by'
    | 'running'
    /** Because the log is not that of the tree, or the tree not that of the last checkpoint. */
    | 'stopped'
  /** Whether the log can be read. */
  isConnected: boolean
}

export const startingRecorder = (): RecorderState => ({ role: 'starting', isConnected: false })

/** The name of the lock of the process that keeps the tree. */
const treeLock = 'audit log'

const maxBatch = 500
/** Checkpoints are signed at least this often, also while the log is read for the first time. */
const maxUnsignedLeaves = 10_000
/** Pause before running again after an error. */
const pauseMs = 1_000
/** How often the recorder checks whether a checkpoint is due. */
const signingPollMs = 250
/** Pause after a checkpoint could not be recorded or published. */
const deliveryPauseMs = 10_000
/** How often it looks for checkpoints to deliver. */
const deliveryPollMs = 1_000

type Options = {
  readonly databaseUrl: string
  readonly pool: Pool
  readonly store: Pick<EventStore, 'followRaw' | 'handle'>
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
 * At a log that is not the tree's, and at a tree that is not the last checkpoint's, it stops, and looks every second whether
 * that has changed.
 */
export async function runRecorder(options: Options): Promise<void> {
  const { signal, signing, state = startingRecorder() } = options
  const log = options.log.child({ tree: treeLock })
  if (signing === undefined) log.info('AUDIT_SIGNING_KEY is not set: no checkpoints of the log are signed')
  await keepRunning(() => holdTree({ ...options, state, log }), {
    signal,
    pauseMs,
    onError: (err) => {
      if (isFinal(err)) log.fatal({ err, action: 'run "ops audit verify"' }, 'the tree of the log has stopped')
      else log.warn({ err, pauseMs }, 'could not keep the tree of the log, trying again')
    },
  })
}

const isFinal = (error: unknown) => error instanceof LogMismatchError || error instanceof InconsistentTreeError

async function holdTree(options: RunningOptions): Promise<void> {
  const { databaseUrl, state, signal, log } = options
  if (state.role !== 'stopped') state.role = 'starting'
  const onWaiting = () => {
    state.role = 'standing by'
  }
  const lock = await holdLock({ databaseUrl, name: treeLock, onWaiting, signal, log })
  try {
    await keepTree({ ...options, signal: AbortSignal.any([signal, lock.lost]) })
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
  const { pool, store, signing, state, log } = options
  await requireConsistentTree(pool, (await readTree(pool)).size)
  const writer = createTreeWriter(pool)
  const sign = signing === undefined ? async () => {} : createSign(pool, signing, writer, log)
  const follow = (signal: AbortSignal) =>
    store.followRaw({
      name: treeLock,
      start: () => writer.start(),
      handle: async (batch) => {
        await writer.append(batch)
        if (writer.unsignedLeaves() >= maxUnsignedLeaves) await sign()
      },
      maxBatch,
      connected: (isConnected) => {
        if (isConnected && state.role !== 'running') log.info('the tree of the log is kept')
        if (isConnected) state.role = 'running'
        state.isConnected = isConnected
      },
      signal,
      log,
    })
  if (signing === undefined) return await follow(options.signal)
  const { publish, intervalMs } = signing
  const deliver = (place: Place, work: Deliver) => (signal: AbortSignal) =>
    keepDelivering({ pool, place, deliver: work, signal, log })
  await runTogether(options.signal, [
    follow,
    (signal) => signInTime({ pool, writer, intervalMs, sign, signal }),
    deliver('recorded_at', (checkpoint) => recordInLog(store, checkpoint)),
    ...(publish === undefined ? [] : [deliver('published_at', publish)]),
  ])
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
      task(AbortSignal.any([signal, stopping.signal])).catch((error: unknown) => {
        failure ??= { error }
        stopping.abort()
      }),
    ),
  )
  if (failure !== undefined) throw failure.error
}

/** @returns a function that signs what is new; calls at the same time share its work */
function createSign(pool: Pool, { key }: Signing, writer: TreeWriter, log: Logger) {
  let pending: Promise<void> | undefined
  const signOnce = async () => {
    const size = writer.size()
    const result = await signCheckpoint(pool, key)
    if (result.outcome === 'signed') {
      log.debug({ size: result.size }, 'signed a checkpoint')
      writer.forgetUnsigned(result.leaves)
    } else if (result.outcome === 'behind') {
      log.warn(result, 'the tree has fewer leaves than the last checkpoint, and nothing is signed until it has more')
      writer.forgetUnsigned(writer.unsignedLeaves())
    } else if (result.size < size) throw new TreeLostError('The tree was restarted meanwhile')
  }
  return () => {
    pending ??= signOnce().finally(() => {
      pending = undefined
    })
    return pending
  }
}

/**
 * Signs new leaves as soon as the last checkpoint is old enough; the first ones an interval after the start.
 * @throws TreeLostError at the latest after an interval, also when nothing is new
 */
async function signInTime(options: {
  readonly pool: Pool
  readonly writer: TreeWriter
  readonly intervalMs: number
  readonly sign: () => Promise<void>
  readonly signal: AbortSignal
}): Promise<void> {
  const { writer, intervalMs, sign, signal } = options
  const { rows } = await options.pool.query<{ age_ms: number | null }>(
    'select extract(epoch from now() - max(made_at))::float8 * 1000 as age_ms from audit.checkpoints',
  )
  let signedAt = performance.now() - (rows[0]?.age_ms ?? 0)
  let triedAt = performance.now()
  while (!signal.aborted) {
    const isNew = writer.unsignedLeaves() > 0
    if (performance.now() - (isNew ? signedAt : triedAt) >= intervalMs) {
      await sign()
      triedAt = performance.now()
      if (isNew) signedAt = triedAt
    }
    await sleep(signingPollMs, undefined, { signal }).catch(() => undefined)
  }
}

type Place = 'recorded_at' | 'published_at'
type Deliver = (checkpoint: StoredCheckpoint, signal: AbortSignal) => Promise<void>

async function recordInLog(store: Pick<EventStore, 'handle'>, checkpoint: StoredCheckpoint): Promise<void> {
  const { size, root, note, made_at } = checkpoint
  const id = `checkpoint-${size}`
  const event = { size, root_hash: root.toString('base64'), note, occurred_at: made_at.toISOString() }
  await store.handle({
    stream: auditCheckpointStream(size),
    fold: auditCheckpointFold,
    decide: (recorded) => recordCheckpoint(recorded, event),
    metadata: { correlationId: id, causationId: id, actor: 'projector' },
    known: newStream(auditCheckpointFold),
  })
}

/** Delivers checkpoints in their order, each until it worked. */
async function keepDelivering(options: {
  readonly pool: Pool
  readonly place: Place
  readonly deliver: Deliver
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { pool, place, deliver, signal, log } = options
  const deliverAll = async () => {
    const checkpoints = await undeliveredCheckpoints(pool, place)
    for (const checkpoint of checkpoints) {
      if (signal.aborted) return
      await deliver(checkpoint, signal)
      await pool.query(`update audit.checkpoints set ${place} = now() where size = $1`, [checkpoint.size])
    }
    if (checkpoints.length === 0) await sleep(deliveryPollMs, undefined, { signal })
  }
  await keepRunning(deliverAll, {
    signal,
    pauseMs: deliveryPauseMs,
    onError: (err) =>
      log.warn({ err, place, pauseMs: deliveryPauseMs }, 'a checkpoint could not be delivered, trying again'),
  })
}
