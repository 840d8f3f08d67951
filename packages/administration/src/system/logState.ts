// How far the log proves itself, as the projector has stored it.
import { auditFigures } from '@paylog/audit-log/treeStore'
import { Instant, Nullable } from '@paylog/domain/fields'
import type { Pool } from 'pg'
import { type Static, Type } from 'typebox'

export const LogState = Type.Object(
  {
    events: Type.Integer({ description: 'Events in the tree of the log' }),
    signed_events: Nullable(
      Type.Integer({ description: 'Those that the last signed checkpoint covers; null without one' }),
    ),
    signed_at: Nullable(Type.With(Instant, { description: 'When that checkpoint was made' })),
    stopped_because: Nullable(Type.String({ description: 'Why nothing is signed any more: the log does not verify' })),
  },
  { title: 'LogState', description: 'Null when Postgres is not available' },
)
export type LogState = Static<typeof LogState>

export const exampleLogState: LogState = {
  events: 4711,
  signed_events: 4700,
  signed_at: '2026-01-31T12:00:00.000Z',
  stopped_because: null,
}

/** @param now by the clock of the database, about @returns null when Postgres is not available */
export async function readLogState(pool: Pool, now: () => Date): Promise<LogState | null> {
  try {
    const { size, last, stoppedBecause: stopped_because } = await auditFigures(pool)
    const signed_at = last === undefined ? null : new Date(now().getTime() - last.ageSeconds * 1_000).toISOString()
    return { events: size, signed_events: last?.size ?? null, signed_at, stopped_because }
  } catch {
    // The checks of the processes say so.
    return null
  }
}
