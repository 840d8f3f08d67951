// `projections prune`: drops tables of projections that are neither read by queries nor being filled.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import type { Projection } from '@paylog/projections/projection'
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { heldLocks, unlessBusy } from '@paylog/projections/rebuild/replay'
import { verifyLock } from '@paylog/projections/rebuild/verify'
import { projections } from '@paylog/projections/registry'
import { dropTable, listStoredTables, listTables, type StoredTable, tableName } from '@paylog/projections/tables/tables'
import { holdLock } from '@paylog/runtime/postgres/lock'
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import { Type } from 'typebox'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readList } from '../command.ts'
import type { Pool } from '../database.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { type ReadModels, withLockTimeout, withReadModels } from './readModels.ts'
import { namedProjections } from './replayEach.ts'
import { sizeText } from './sizes.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })
/** Longer than a query, shorter than a backup. */
const lockTimeoutMs = 3_000

export const projectionsPrune: CliCommand = {
  usage: '[NAME…] [--dry-run] [--reason TEXT] [--json]',
  summary: 'Drop the tables that rebuilds have replaced or left unfinished',
  details: [
    '  NAME…          only of these projections',
    '  --dry-run      only shows what would be dropped',
    reasonHelp,
    '  --json         one object: dropped and remaining tables, and freed_bytes',
    '',
    'The live table is never dropped, nor one that a rebuild or a verification is filling. A table that is still being read,',
    'by a backup for example, is left for the next time. Exits with 1 when it was interrupted.',
  ].join('\n'),
  async run(args, context) {
    const { environment, print, errors } = context
    const { values, positionals } = readList(args, {
      'dry-run': { type: 'boolean' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    const chosen = positionals.length === 0 ? projections : namedProjections(positionals)
    const { DATABASE_URL } = loadConfig(Config, environment)
    const reason = readAuditReason(values.reason)
    const isDryRun = values['dry-run'] === true
    const pruned = await withReadModels(withLockTimeout(DATABASE_URL, lockTimeoutMs), errors, async (readModels) => {
      if (!isDryRun) await auditCommand(context, reason, pruneDeed(positionals))
      return await withInterrupt(errors, (signal) =>
        pruneTables({ ...readModels, projections: chosen, isDryRun, signal }),
      )
    })
    await print(values.json ? json(pruned, isDryRun) : text(pruned, isDryRun))
    if (!pruned.isComplete) throw new OpsError('Interrupted. Run the command again for the rest.')
  },
}

/** @param names none for all projections */
function pruneDeed(names: readonly string[]): IntendedDeed {
  const [only] = names
  const target = names.length === 1 && only !== undefined ? { kind: 'projection', id: only } : null
  return { action: 'prune_projections', target, details: { projections: names.join(', ') || 'all' } }
}

const freedBy = ({ dropped }: Pruned) => dropped.reduce((sum, { bytes }) => sum + bytes, 0)

function json(pruned: Pruned, isDryRun: boolean): string {
  const { isComplete, dropped, left } = pruned
  const asJson = ({ projection, version, schema_version, state, since, rows, bytes }: Pruned['dropped'][number]) => ({
    projection,
    table: tableName({ name: projection }, version),
    version,
    schema_version,
    state,
    since,
    rows,
    bytes,
  })
  return JSON.stringify({
    complete: isComplete,
    dry_run: isDryRun,
    dropped: dropped.map(asJson),
    left: left.map(({ because, ...table }) => ({ ...asJson(table), because })),
    freed_bytes: freedBy(pruned),
  })
}

const reasons = {
  'in use': 'a rebuild or a verification is filling it',
  'being read': 'it is still being read; try again later',
} as const

function text(pruned: Pruned, isDryRun: boolean): string {
  const { dropped, left } = pruned
  const [drop, free] = isDryRun ? ['Would drop', 'Would free'] : ['Dropped', 'Freed']
  const nameOf = ({ projection, version }: Pruned['dropped'][number]) => tableName({ name: projection }, version)
  return [
    ...dropped.map(
      (table) =>
        `${drop} ${nameOf(table)}: ${table.state} since ${table.since.toISOString()}, ${sizeText(table.bytes)}.`,
    ),
    ...left.map((table) => `Kept ${nameOf(table)}: ${reasons[table.because]}.`),
    dropped.length === 0 ? 'Nothing to drop.' : `${free} ${sizeText(freedBy(pruned))}.`,
  ].join('\n')
}

export type Pruned = {
  /** With a dry run: the tables that would be dropped. */
  readonly dropped: readonly StoredTable[]
  readonly left: readonly (StoredTable & { readonly because: 'in use' | 'being read' })[]
  /** False after an interruption. */
  readonly isComplete: boolean
}

type PruneOutcome = 'dropped' | 'in use' | 'being read' | 'gone'

type PruneOptions = ReadModels & {
  readonly projections: readonly Projection[]
  readonly isDryRun: boolean
  readonly signal: AbortSignal
}

/** @param options `pool` needs a lock timeout: waiting for a table that is being read would block its other users */
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
  const lock = await unlessBusy(signal, (locking) => holdLock({ databaseUrl, name, log, ...locking })).catch(
    (error: unknown) => {
      // Interrupted before the lock was taken.
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

/** Drops the table if it is unchanged: its rebuild may have finished meanwhile and made it the live one. */
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
