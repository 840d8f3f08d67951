// Rebuilds a projection for an operator, who does not wait for others and gets a report.
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import type { RowDifference } from '../tables/comparison.ts'
import { rowJson } from '../tables/rowText.ts'
import { tableName } from '../tables/tables.ts'
import { type RebuildResult, rebuild } from './rebuild.ts'
import { ProjectionBusyError, type ReplayOptions } from './replay.ts'

/** The number of differing rows that are shown. */
export const maxShown = 20

export type CompletedRebuild = RebuildResult & {
  readonly projection: Projection
  readonly rows: number
  readonly seconds: number
  readonly shown: readonly RowDifference[]
}

/** @throws ProjectionBusyError when another process is rebuilding it; the errors of `rebuild` */
export async function rebuildOne(options: ReplayOptions): Promise<CompletedRebuild> {
  const { pool, projection, signal } = options
  const shown: RowDifference[] = []
  const startedAt = performance.now()
  const rebuilt = await rebuild({
    ...options,
    onWaiting() {
      throw new ProjectionBusyError('another process is rebuilding it: a job, or a projector')
    },
    onDifference(row) {
      signal.throwIfAborted()
      if (shown.length < maxShown) shown.push(row)
    },
  })
  const seconds = (performance.now() - startedAt) / 1_000
  return { ...rebuilt, projection, seconds, shown, rows: await countRows(pool, projection, rebuilt.version) }
}

/** The current number of rows, also while it is being filled. */
async function countRows(pool: Pool, projection: Projection, version: number): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>(
    `select count(*)::float8 as rows from read_models.${tableName(projection, version)}`,
  )
  return rows[0]?.rows ?? 0
}

/** Positions and hashes as decimal strings. */
export function rebuiltJson(rebuilt: CompletedRebuild) {
  const { projection, version, replaced, events, seconds, comparison, shown } = rebuilt
  return {
    projection: projection.name,
    outcome: 'rebuilt',
    table: tableName(projection, version),
    version,
    schema_version: projection.schemaVersion,
    replaced: replaced === undefined ? null : tableName(projection, replaced.version),
    events,
    resumed_after: rebuilt.resumedAfter?.commit.toString() ?? null,
    rows: rebuilt.rows,
    seconds: Math.round(seconds * 1_000) / 1_000,
    events_per_second: rate(events, seconds),
    comparison:
      comparison === undefined
        ? null
        : {
            equal: comparison.differing === 0,
            position: comparison.position?.commit.toString() ?? null,
            rows: { found: comparison.live.rows, expected: comparison.expected.rows },
            hash: { found: comparison.live.hash, expected: comparison.expected.hash },
            differing: comparison.differing,
            differences: shown.map(rowJson),
            truncated: shown.length < comparison.differing,
          },
  }
}

/** What `ops projections rebuild` prints, and the result of the job. */
export type RebuildReport = ReturnType<typeof rebuiltJson>

/** Events per second. */
const rate = (events: number, seconds: number) => (seconds > 0 ? Math.round(events / seconds) : 0)
