// Makes the rows of a projection again, beside those that queries see, and lets them take their place.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStore } from '@paylog/event-store/eventStore'
import { holdLock } from '@paylog/runtime/postgres/postgres'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import type { RowDifference } from '../tables/comparison.ts'
import {
  dropTable,
  dropUnfinished,
  indexTable,
  liveTable,
  makeTable,
  type ProjectionTable,
  promoteTable,
} from '../tables/tables.ts'
import {
  alongsideLive,
  catchUp,
  catchUpWithLive,
  createFollower,
  type Follower,
  type FollowProgress,
} from './follower.ts'
import { type Comparison, compareWithLive, SchemaVersionError } from './verify.ts'

export type RebuildPhase = 'filling' | 'comparing' | 'indexing' | 'catching up' | 'switching'
export type RebuildProgress = FollowProgress & { readonly phase: RebuildPhase }

export type RebuildResult = {
  /** The version that queries see. */
  readonly version: number
  /** The one that they saw before, which is kept until it is pruned. */
  readonly replaced: ProjectionTable | undefined
  /** Events that were applied. */
  readonly events: number
  /** Missing when the table before was of another definition, so that its rows should differ. */
  readonly comparison: Comparison | undefined
}

export type RebuildOptions = {
  readonly databaseUrl: string
  /** Three connections are used at the same time. */
  readonly pool: Pool
  readonly store: EventStore
  readonly projection: Projection
  readonly signal: AbortSignal
  readonly log: Logger
  /** Told when somebody else rebuilds this projection; it is waited for then, unless the signal aborts. */
  readonly onWaiting?: () => void
  readonly onProgress?: (progress: RebuildProgress) => void
  /** Rows of the table before that were not what the log says, in the order of their ids. */
  readonly onDifference?: (difference: RowDifference) => Promise<void> | void
}

/** The name of the lock under which tables that are built are made, filled and dropped. */
export const rebuildLock = ({ name }: Pick<Projection, 'name'>) => `rebuild ${name}`

const switchPatienceMs = 60_000
const switchPauseMs = 500
/** Who asks the view while we wait for it waits behind us: first a little, and longer when there is no gap as short. */
const firstViewPatienceMs = 100
const longestViewPatienceMs = 2_000

/**
 * Rebuilds a projection while it is read and written: see docs/decisions/0018. What an earlier rebuild left unfinished is
 * dropped first, so that one that was killed can simply be repeated.
 * @throws OtherDefinitionError when the live table is of a later definition; UnreadableEventError, LogEndsError, DomainError
 *   `event_store_unavailable`; the signal's reason when it aborts; the database's errors: queries go on seeing the table
 *   before then
 */
export function rebuild(options: RebuildOptions): Promise<RebuildResult> {
  return withLock(options, (locked) => rebuildLocked(options, locked))
}

/**
 * The same for a live table that an earlier definition has made, unless somebody else has done it already.
 * @throws as `rebuild` does
 */
export function rebuildOutdated(options: RebuildOptions): Promise<RebuildResult | undefined> {
  const { pool, projection } = options
  return withLock(options, async (locked) => {
    const live = await liveTable(pool, projection)
    const isOutdated = live !== undefined && live.definition < projection.schemaVersion
    return isOutdated ? await rebuildLocked(options, locked) : undefined
  })
}

async function withLock<Result>(
  options: RebuildOptions,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl, projection, log, onWaiting } = options
  const lock = await holdLock({
    databaseUrl,
    name: rebuildLock(projection),
    signal: options.signal,
    log,
    ...(onWaiting === undefined ? {} : { onWaiting }),
  })
  try {
    return await work(lock.lost)
  } finally {
    await lock.release()
  }
}

/** @param lost aborts when the lock is lost */
async function rebuildLocked(options: RebuildOptions, lost: AbortSignal): Promise<RebuildResult> {
  const { pool, projection } = options
  const live = await liveTable(pool, projection)
  if (live !== undefined && live.definition > projection.schemaVersion) {
    throw new SchemaVersionError(
      `The live table is of definition ${live.definition}, and this program only knows ${projection.schemaVersion}`,
    )
  }
  await dropUnfinished(pool, projection, 'building')
  const version = await makeTable(pool, projection, 'building')
  try {
    return await build({ ...options, signal: AbortSignal.any([options.signal, lost]) }, version)
  } catch (error) {
    // Whoever has the lock by now has dropped it already, and made another one by this name.
    if (!lost.aborted) await dropTable(pool, projection, version).catch(() => undefined)
    throw error
  }
}

async function build(options: RebuildOptions, version: number): Promise<RebuildResult> {
  const { pool, projection, signal, onProgress, onDifference } = options
  let phase: RebuildPhase = 'filling'
  const report = (reading: FollowProgress) => onProgress?.({ ...reading, phase })
  const follower = await createFollower({ ...options, version, onProgress: report })
  const enter = (next: RebuildPhase) => {
    signal.throwIfAborted()
    phase = next
    report(follower.progress())
  }

  enter('filling')
  const replaced = await liveTable(pool, projection)
  const isComparable = replaced?.definition === projection.schemaVersion
  if (isComparable) {
    await catchUpWithLive({ pool, projection, follower })
    enter('comparing')
  }
  const comparison = isComparable
    ? await compareWithLive({ pool, projection, version, follower, onDifference: onDifference ?? (() => {}) })
    : undefined
  enter('filling')
  await follower.follow()
  enter('indexing')
  await indexTable(pool, projection, version)
  enter('catching up')
  await catchUp(follower)
  enter('switching')
  await switchView(options, { version, follower })
  return { version, replaced, events: follower.progress().events, comparison }
}

/** @throws Error when queries on the view leave no gap for a minute */
async function switchView(
  options: RebuildOptions,
  { version, follower }: { readonly version: number; readonly follower: Follower },
): Promise<void> {
  const { pool, projection, signal, log } = options
  const giveUpAt = Date.now() + switchPatienceMs
  for (let patienceMs = firstViewPatienceMs; ; patienceMs = Math.min(patienceMs * 2, longestViewPatienceMs)) {
    try {
      return await alongsideLive({ pool, projection, follower }, async (client) => {
        signal.throwIfAborted()
        const { position } = follower.progress()
        await promoteTable(client, projection, { version, position, viewLockTimeoutMs: patienceMs })
      })
    } catch (error) {
      // A connection that is lost at the commit does not say whether it was done.
      if ((await liveTable(pool, projection))?.version === version) return
      if (!isLockConflict(error)) throw error
      if (Date.now() > giveUpAt) {
        throw new Error(`The view ${projection.name} was in use for a minute without a gap`, { cause: error })
      }
      log.info({ err: error }, 'the view is in use, trying again to switch it')
      await sleep(switchPauseMs, undefined, { signal })
      await catchUp(follower)
    }
  }
}

const lockTimeout = '55P03'
const deadlock = '40P01'
const isLockConflict = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === lockTimeout || error.code === deadlock)
