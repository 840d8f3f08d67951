// Rebuilds a projection in a new table while the old one is in use, and switches the view.

import { setTimeout as sleep } from 'node:timers/promises'
import type { LogPosition } from '@paylog/domain/events'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import { anySignal } from '@paylog/runtime/anySignal'
import { withLock } from '@paylog/runtime/postgres/lock'
import { checkpointName, liveCheckpoint, readCheckpoint } from '../apply/checkpoints.ts'
import type { Projection } from '../projection.ts'
import {
  dropTable,
  indexTable,
  liveTable,
  type ProjectionTable,
  promoteTable,
  unfinishedOrNewTable,
} from '../tables/tables.ts'
import {
  alongsideLive,
  catchUp,
  catchUpWithLive,
  createFollower,
  type Follower,
  type FollowProgress,
} from './follower.ts'
import { type ReplayOptions, type ReplayStep, SchemaVersionError } from './replay.ts'
import { type Comparison, compareWithLive } from './verify.ts'

export type RebuildResult = {
  /** The version that queries see now. */
  readonly version: number
  /** The version that they saw before, kept until it is pruned. */
  readonly replaced: ProjectionTable | undefined
  /** Number of events that this rebuild applied. */
  readonly events: number
  /** The position after which it continued an interrupted rebuild. */
  readonly resumedAfter: LogPosition | undefined
  /**
   * Undefined when the old table has another schema version, so its rows should differ, or when the interrupted rebuild
   * was already past the old table's position.
   */
  readonly comparison: Comparison | undefined
}

/** The name of the lock for creating, filling and dropping tables under construction. */
export const rebuildLock = ({ name }: Pick<Projection, 'name'>) => `rebuild ${name}`

const switchTimeoutMs = 60_000
const switchPauseMs = 500
/** Queries on the view wait behind this lock request, so the first attempts are short and later ones longer. */
const minViewTimeoutMs = 100
const maxViewTimeoutMs = 2_000

/**
 * Rebuilds a projection while it is read and written: see docs/decisions/0018. Continues an interrupted rebuild of this
 * schema version.
 * @throws SchemaVersionError when the live table has a later schema version; UnreadableEventError, LogMismatchError, DomainError
 *   `event_store_unavailable`, the signal's reason when it aborts, database errors. After an error queries still see the
 *   old table
 */
export function rebuild(options: ReplayOptions): Promise<RebuildResult> {
  return withRebuildLock(options, (lost) => rebuildLocked(options, lost))
}

/**
 * Rebuilds a live table with an older schema version, unless another process has done so.
 * @throws like `rebuild`
 */
export function rebuildOutdated(options: ReplayOptions): Promise<RebuildResult | undefined> {
  const { pool, projection } = options
  return withRebuildLock(options, async (lost) => {
    const live = await liveTable(pool, projection)
    const isOutdated = live !== undefined && live.schema_version < projection.schemaVersion
    return isOutdated ? await rebuildLocked(options, lost) : undefined
  })
}

const withRebuildLock = <Result>(options: ReplayOptions, work: (lost: AbortSignal) => Promise<Result>) =>
  withLock({ ...options, name: rebuildLock(options.projection) }, work)

/** @param lost aborts when the lock is lost */
async function rebuildLocked(options: ReplayOptions, lost: AbortSignal): Promise<RebuildResult> {
  const { pool, projection } = options
  const live = await liveTable(pool, projection)
  if (live !== undefined && live.schema_version > projection.schemaVersion) {
    throw new SchemaVersionError(
      `the live table has schema version ${live.schema_version}, and this program supports up to ${projection.schemaVersion}: ` +
        'use the version of Paylog that created it',
    )
  }
  const version = await tableToFill(options)
  try {
    return await build({ ...options, signal: anySignal(options.signal, lost) }, version)
  } catch (error) {
    // It was the wrong log, so no later rebuild may continue with these rows.
    if (error instanceof LogMismatchError && !lost.aborted) await dropTable(pool, projection, version)
    throw error
  }
}

/** An unfinished table, unless it was filled from another log. */
async function tableToFill({ pool, store, projection }: ReplayOptions): Promise<number> {
  const version = await unfinishedOrNewTable(pool, projection)
  const { position } = await readCheckpoint(pool, checkpointName(projection, version))
  if (position === undefined || (await store.has(position))) return version
  await dropTable(pool, projection, version)
  return await unfinishedOrNewTable(pool, projection)
}

/**
 * Whether the live table was filled from this log. One of another log, such as that before a restore, is replaced only when
 * its projector has stopped for that reason: otherwise it may be this program that reads the wrong log.
 * @throws LogMismatchError
 */
async function isOfThisLog({ pool, store, projection }: ReplayOptions): Promise<boolean> {
  const live = await liveCheckpoint(pool, projection.name)
  if (live?.position === undefined || (await store.has(live.position))) return true
  if (live.stopped_because !== null) return false
  throw new LogMismatchError(
    `The live table is at the event ${live.position.eventId}, which is not at position ${live.position.commit} of this ` +
      'log, but no projector has stopped because of that: is this the right event store?',
  )
}

async function build(options: ReplayOptions, version: number): Promise<RebuildResult> {
  const { pool, projection, signal, log, onProgress, onDifference = () => {} } = options
  let step: ReplayStep = 'filling'
  const report = (reading: FollowProgress) => onProgress({ ...reading, projection: projection.name, step })
  const follower = await createFollower({ ...options, version, onProgress: report })
  const resumedAfter = follower.progress().position
  if (resumedAfter !== undefined)
    log.info({ version, position: resumedAfter.commit.toString() }, 'continuing an interrupted rebuild')
  const enter = (next: ReplayStep) => {
    signal.throwIfAborted()
    step = next
    report(follower.progress())
  }

  enter('filling')
  const replaced = await liveTable(pool, projection)
  const followsLive = await isOfThisLog(options)
  const isComparable = followsLive && replaced?.schema_version === projection.schemaVersion
  if (isComparable) {
    await catchUpWithLive({ pool, projection, follower })
    enter('comparing')
  }
  const comparison = isComparable
    ? await compareWithLive({ pool, projection, version, follower, onDifference })
    : undefined
  enter('filling')
  await follower.follow()
  enter('indexing')
  await indexTable(pool, projection, version)
  enter('catching up')
  await catchUp(follower)
  enter('switching')
  await switchView(options, { version, follower, followsLive })
  return { version, replaced, events: follower.progress().events, resumedAfter, comparison }
}

/** @throws Error when the view is continuously in use for a minute */
async function switchView(
  options: ReplayOptions,
  successor: { readonly version: number; readonly follower: Follower; readonly followsLive: boolean },
): Promise<void> {
  const { pool, projection, signal, log } = options
  const { version, follower } = successor
  const giveUpAt = Date.now() + switchTimeoutMs
  for (let viewTimeoutMs = minViewTimeoutMs; ; viewTimeoutMs = Math.min(viewTimeoutMs * 2, maxViewTimeoutMs)) {
    try {
      return await alongsideLive({ pool, projection, ...successor }, async (client) => {
        signal.throwIfAborted()
        const { position } = follower.progress()
        await promoteTable(client, projection, { version, position, viewLockTimeoutMs: viewTimeoutMs })
      })
    } catch (error) {
      // After a connection loss during the commit, its outcome is unknown.
      if ((await liveTable(pool, projection))?.version === version) return
      if (!isLockConflict(error)) throw error
      if (Date.now() > giveUpAt) {
        throw new Error(`The view ${projection.name} was continuously in use for a minute`, { cause: error })
      }
      log.info({ err: error }, 'the view is in use, trying the switch again')
      await sleep(switchPauseMs, undefined, { signal })
      await catchUp(follower)
    }
  }
}

const lockTimeout = '55P03'
const deadlock = '40P01'
const isLockConflict = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === lockTimeout || error.code === deadlock)
