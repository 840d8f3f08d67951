// `projections prune`: drops tables of projections that are neither read by queries nor being filled.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { type Pruned, pruneTables } from '@paylog/projections/rebuild/pruneTables'
import { projections } from '@paylog/projections/registry'
import { tableName } from '@paylog/projections/tables/tables'
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import { Type } from 'typebox'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readList } from '../command.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { withReadModels } from './readModels.ts'
import { namedProjections } from './replayEach.ts'
import { sizeText } from './sizes.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

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
    const pruned = await withReadModels(DATABASE_URL, errors, async (readModels) => {
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
