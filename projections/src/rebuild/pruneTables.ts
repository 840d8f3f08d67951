// Drops the tables of projections that are neither read by queries nor being filled.
import { withLock } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import { dropTable, listStoredTables, listTables, type StoredTable } from '../tables/tables.ts'
import { rebuildLock } from './rebuild.ts'
import { heldLocks, ProjectionBusyError } from './replay.ts'
import { verifyLock } from './verify.ts'

/**
 * Waiting for a table that is being read would block its other users. Longer than a query, shorter than a backup.
 */
const lockTimeoutMs = 3_000

export type Pruned = {
  /** With a dry run: the tables that would be dropped. */
  readonly dropped: readonly StoredTable[]
  readonly left: readonly (StoredTable & { readonly because: 'in use' | 'being read' })[]
  /** False after an interruption. */
  readonly isComplete: boolean
}

type PruneOutcome = 'dropped' | 'in use' | 'being read' | 'gone'

type PruneOptions = {
  readonly databaseUrl: string
  readonly pool: Pool
  readonly log: Logger
  readonly projections: readonly Projection[]
  readonly isDryRun: boolean
  readonly signal: AbortSignal
}

/** Drops tables that are neither read by queries nor being filled. */
export async function pruneTables(options: PruneOptions): Promise<Pruned> {
  const { pool, projections, isDryRun, signal } = options
  const names = projections.map(({ name }) => name)
  const candidates = (await listStoredTables(pool)).filter(
    ({ projection, state }) => names.includes(projection) && state !== 'live',
  )
  const dropped: StoredTable[] = []
  const left: (StoredTable & { readonly because: 'in use' | 'being read' })[] = []
  for (const table of candidates) {
    if (signal.aborted) break
    const outcome = isDryRun ? await dryRun(pool, table) : await drop(options, table)
    if (outcome === 'dropped') dropped.push(table)
    else if (outcome !== 'gone') left.push({ ...table, because: outcome })
  }
  return { dropped, left, isComplete: dropped.length + left.length === candidates.length || !signal.aborted }
}

/** The lock that is held while the table is filled. */
function fillLock({ projection: name, state }: StoredTable): string | undefined {
  if (state === 'building') return rebuildLock({ name })
  return state === 'scratch' ? verifyLock({ name }) : undefined
}

async function dryRun(pool: Pool, table: StoredTable): Promise<PruneOutcome> {
  const lock = fillLock(table)
  return lock !== undefined && (await heldLocks(pool, [lock])).size > 0 ? 'in use' : 'dropped'
}

async function drop({ databaseUrl, pool, log, signal }: PruneOptions, table: StoredTable): Promise<PruneOutcome> {
  const name = fillLock(table)
  if (name === undefined) return await dropIfUnchanged(pool, table)
  const busy = new ProjectionBusyError()
  const onWaiting = () => {
    throw busy
  }
  return await withLock({ databaseUrl, name, log, signal, onWaiting }, () => dropIfUnchanged(pool, table)).catch(
    (error: unknown) => {
      // Also when it was interrupted before the lock was taken.
      if (error === busy || error === signal.reason) return 'in use'
      throw error
    },
  )
}

/** Drops the table if it is unchanged: its rebuild may have finished meanwhile and made it the live one. */
async function dropIfUnchanged(pool: Pool, { projection: name, version, state }: StoredTable): Promise<PruneOutcome> {
  const table = (await listTables(pool, name)).find((each) => each.version === version)
  if (table?.state !== state) return 'gone'
  try {
    await dropTable(pool, { name }, version, { lockTimeoutMs })
    return 'dropped'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '55P03') return 'being read'
    throw error
  }
}
