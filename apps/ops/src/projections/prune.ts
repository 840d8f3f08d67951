// `projections prune`: drops tables of projections that are neither read by queries nor being filled.

import { type Pruned, pruneTables } from '@paylog/projections/rebuild/pruneTables'
import { projections } from '@paylog/projections/registry'
import { tableName } from '@paylog/projections/tables/tables'
import type { IntendedAction } from '@paylog/runtime/http/guardRoutes'
import { defineCommand } from '../defineCommand.ts'
import { flag } from '../options.ts'
import { interrupted, sizeText } from '../texts.ts'
import { namedProjections, openReadModels } from './replayEach.ts'

export const projectionsPrune = defineCommand({
  summary: 'Drop the tables that rebuilds have replaced or left unfinished',
  args: ['NAME…'],
  usage: '[NAME…] [--dry-run] [--reason TEXT] [--json]',
  options: { 'dry-run': flag('only shows what would be dropped') },
  audited: 'reason',
  json: 'one object: dropped and remaining tables, and freed_bytes',
  about: [
    'NAME…: only the tables of these projections. The live table is never dropped, nor one that a rebuild or a verification is',
    'filling. A table that is still being read, by a backup for example, is left for the next time. Exits with 1 when it was',
    'interrupted.',
  ],
  onInterrupt: 'finishes',
  async run({ args, options, open, signal, audit }) {
    const chosen = args.length === 0 ? projections : namedProjections(args)
    const isDryRun = options['dry-run']
    if (!isDryRun) await audit(pruneAction(args))
    const pruned = await pruneTables({ ...openReadModels(open), projections: chosen, isDryRun, signal })
    return {
      json: json(pruned, isDryRun),
      text: text(pruned, isDryRun),
      problem: pruned.isComplete ? undefined : interrupted,
    }
  },
})

/** @param names none for all projections */
function pruneAction(names: readonly string[]): IntendedAction {
  const [only] = names
  const target = names.length === 1 && only !== undefined ? { kind: 'projection', id: only } : null
  return { action: 'prune_projections', target, details: { projections: names.join(', ') || 'all' } }
}

const freedBy = ({ dropped }: Pruned) => dropped.reduce((sum, { bytes }) => sum + bytes, 0)

type Table = Pruned['dropped'][number]

const nameOf = ({ projection, version }: Pick<Table, 'projection' | 'version'>) =>
  tableName({ name: projection }, version)

function json(pruned: Pruned, isDryRun: boolean) {
  const { isComplete: complete, dropped, left } = pruned
  const asJson = ({ position: _, stopped_because: __, ...table }: Table) => ({ table: nameOf(table), ...table })
  return {
    complete,
    dry_run: isDryRun,
    dropped: dropped.map(asJson),
    left: left.map(asJson),
    freed_bytes: freedBy(pruned),
  }
}

const reasons = {
  'in use': 'a rebuild or a verification is filling it',
  'being read': 'it is still being read; try again later',
} as const

function text(pruned: Pruned, isDryRun: boolean): string {
  const { dropped, left } = pruned
  const [drop, free] = isDryRun ? ['Would drop', 'Would free'] : ['Dropped', 'Freed']
  return [
    ...dropped.map(
      (table) =>
        `${drop} ${nameOf(table)}: ${table.state} since ${table.since.toISOString()}, ${sizeText(table.bytes)}.`,
    ),
    ...left.map((table) => `Kept ${nameOf(table)}: ${reasons[table.because]}.`),
    dropped.length === 0 ? 'Nothing to drop.' : `${free} ${sizeText(freedBy(pruned))}.`,
  ].join('\n')
}
