// Whether the rows that queries see are what the log says.
import type { EventStore } from '@paylog/event-store/eventStore'
import { holdLock } from '@paylog/runtime/postgres/postgres'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { liveCheckpoint } from '../apply/checkpoints.ts'
import type { Projection } from '../projection.ts'
import type { RowDifference } from '../tables/comparison.ts'
import { dropTable, dropUnfinished, makeTable } from '../tables/tables.ts'
import { type Comparison, compareWithLive } from './comparing.ts'
import { createFollower, type FollowProgress } from './following.ts'
import { catchUpWithLive } from './sideBySide.ts'

export type VerifyPhase = 'filling' | 'comparing'
export type Verification = Comparison & {
  /** Events that the log has for it, up to where it was compared. */
  readonly events: number
}

/** The live table was made by a program that means something else by this projection. */
export class SchemaVersionError extends Error {
  override readonly name = 'OtherDefinitionError'
}

/** The name of the lock under which scratch tables are made, filled and dropped. */
export const verifyLock = ({ name }: Pick<Projection, 'name'>) => `verify ${name}`

/**
 * Replays the log into a scratch table and compares it with the live one, both at the same position, while both are in use.
 * @param options `waiting` is told when somebody else verifies this projection; `onDifference` of each row that differs
 * @throws OtherDefinitionError when the two could not be the same; UnreadableEventError, DomainError
 *   `event_store_unavailable`; the signal's reason when it aborts; the database's errors
 */
export async function verify(options: {
  readonly databaseUrl: string
  /** Three connections are used at the same time. */
  readonly pool: Pool
  readonly store: EventStore
  readonly projection: Projection
  readonly signal: AbortSignal
  readonly log: Logger
  readonly waiting?: () => void
  readonly onProgress?: (progress: FollowProgress & { readonly phase: VerifyPhase }) => void
  readonly onDifference: (difference: RowDifference) => Promise<void> | void
}): Promise<Verification> {
  const { databaseUrl, pool, projection, log, waiting, onProgress, onDifference } = options
  const live = await liveCheckpoint(pool, projection.name)
  if (live?.definition !== projection.schemaVersion) {
    const made = live === undefined ? 'There is no live table' : `The live table is of definition ${live.definition}`
    throw new SchemaVersionError(`${made}, and this program knows definition ${projection.schemaVersion}`)
  }
  const lock = await holdLock({
    databaseUrl,
    name: verifyLock(projection),
    signal: options.signal,
    log,
    ...(waiting === undefined ? {} : { onWaiting: waiting }),
  })
  try {
    const signal = AbortSignal.any([options.signal, lock.lost])
    await dropUnfinished(pool, projection, 'scratch')
    const version = await makeTable(pool, projection, 'scratch')
    try {
      const tell = (phase: VerifyPhase) => (reading: FollowProgress) => onProgress?.({ ...reading, phase })
      const follower = await createFollower({ ...options, signal, version, onProgress: tell('filling') })
      await catchUpWithLive({ pool, projection, follower })
      signal.throwIfAborted()
      tell('comparing')(follower.reading())
      const comparison = await compareWithLive({ pool, projection, version, follower, onDifference })
      if (comparison === undefined) throw new SchemaVersionError('The live table is of another definition now')
      return { ...comparison, events: follower.reading().events }
    } finally {
      if (!lock.lost.aborted) await dropTable(pool, projection, version)
    }
  } finally {
    await lock.release()
  }
}
