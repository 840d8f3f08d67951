// `projections prune`: drops the tables of projections that nobody needs any more.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { projections } from '@paylog/projections/registry'
import { tableName } from '@paylog/projections/tables/tables'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readList } from '../command.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { namedProjections } from './named.ts'
import { type Pruned, pruneTables } from './pruning.ts'
import { withLockTimeout, withReadModels } from './readModels.ts'
import { sizeText } from './sizes.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })
/** A query is over by then; a backup is not. */
const lockTimeoutMs = 3_000

export const projectionsPrune: CliCommand = {
  usage: '[NAME…] [--dry-run] [--json]',
  summary: 'Drop the tables that rebuilds have replaced, and what was left unfinished',
  details: [
    '  --dry-run  only says what would be dropped',
    '  --json     one object: dropped and left tables, and freed_bytes',
    '',
    'Never the live table, and never one that a rebuild or a verification is filling. A table that something else still',
    'reads, such as a backup, is left for the next time. Exits with 1 when it was interrupted.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readList(args, { 'dry-run': { type: 'boolean' }, json: { type: 'boolean' } })
    const chosen = positionals.length === 0 ? projections : namedProjections(positionals)
    const { DATABASE_URL } = loadConfig(Config, environment)
    const isDryRun = values['dry-run'] === true
    const pruned = await withReadModels(withLockTimeout(DATABASE_URL, lockTimeoutMs), errors, (readModels) =>
      withInterrupt(errors, (signal) => pruneTables({ ...readModels, projections: chosen, isDryRun, signal })),
    )
    await print(values.json ? json(pruned, isDryRun) : text(pruned, isDryRun))
    if (!pruned.isComplete) throw new OpsError('Interrupted. Run it again for the rest.')
  },
}

const freedBy = ({ dropped }: Pruned) => dropped.reduce((sum, { bytes }) => sum + bytes, 0)

function json(pruned: Pruned, isDryRun: boolean): string {
  const { isComplete, dropped, left } = pruned
  const asJson = ({ projection, version, definition, state, since, rows, bytes }: Pruned['dropped'][number]) => ({
    projection,
    table: tableName({ name: projection }, version),
    version,
    definition,
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
  'being read': 'something still reads it; try again later',
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
    ...left.map((table) => `Left ${nameOf(table)}: ${reasons[table.because]}.`),
    dropped.length === 0 ? 'There is nothing to drop.' : `${free} ${sizeText(freedBy(pruned))}.`,
  ].join('\n')
}
