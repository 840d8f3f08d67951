// Drops what no query sees and nobody fills.

import type { Projection } from '@paylog/projections/projection'
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { verifyLock } from '@paylog/projections/rebuild/verify'
import { listStoredTables, type StoredTable } from '@paylog/projections/tables/inventory'
import { dropTable, listTables } from '@paylog/projections/tables/tables'
import { holdLock } from '@paylog/runtime/postgres/postgres'
import type { Pool } from '../opsPool.ts'
import { heldLocks, type ReadModels, unlessBusy } from './readModels.ts'

export type Pruned = {
  /** Or what would be. */
  readonly dropped: readonly StoredTable[]
  readonly left: readonly (StoredTable & { readonly because: 'in use' | 'being read' })[]
  /** Not interrupted. */
  readonly isComplete: boolean
}

type PruneOutcome = 'dropped' | 'in use' | 'being read' | 'gone'

type PruneOptions = ReadModels & {
  readonly projections: readonly Projection[]
  readonly isDryRun: boolean
  readonly signal: AbortSignal
}

/** @param options `pool` is one for the impatient: who waits for a table that is read holds up those who make one */
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
    const fate = isDryRun ? await dryRun(pool, table) : await drop(options, table)
    if (fate === 'dropped') dropped.push(table)
    else if (fate !== 'gone') left.push({ ...table, because: fate })
  }
  return { dropped, left, isComplete: dropped.length + left.length === candidates.length || !signal.aborted }
}

/** The lock of those who fill such a table. */
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
  const lock = await unlessBusy(signal, (locking) => holdLock({ databaseUrl, name, log, ...locking })).catch(
    (error: unknown) => {
      // Interrupted before it was there.
      if (signal.aborted) return 'busy' as const
      throw error
    },
  )
  if (lock === 'busy') return 'in use'
  try {
    return await dropIfUnchanged(pool, table)
  } finally {
    await lock.release()
  }
}

/** Drops it if it is still what it was: whoever was filling it may have ended meanwhile, and have made it the live one. */
async function dropIfUnchanged(pool: Pool, { projection: name, version, state }: StoredTable): Promise<PruneOutcome> {
  const table = (await listTables(pool, name)).find((each) => each.version === version)
  if (table?.state !== state) return 'gone'
  try {
    await dropTable(pool, { name }, version)
    return 'dropped'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '55P03') return 'being read'
    throw error
  }
}
