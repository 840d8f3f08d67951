// `projections rebuild`: fills projections again from the log and replaces their live tables.
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { maxShown, type RebuildReport } from '@paylog/projections/rebuild/rebuildOne'
import { heldLocks } from '@paylog/projections/rebuild/replay'
import { rowText } from '@paylog/projections/tables/rowText'
import { listTables, tableName } from '@paylog/projections/tables/tables'
import type { Pool } from '../system.ts'
import { counted, moreThan } from '../texts.ts'
import { type FailedProjection, replayCommand } from './replayEach.ts'

function rebuiltText(report: RebuildReport): string {
  const { projection: name, table, replaced, events, resumed_after, rows, seconds, events_per_second } = report
  return [
    `${name}: rebuilt from ${counted(events, 'event')} in ${seconds.toFixed(1)} s (${events_per_second}/s), ${counted(rows, 'row')}.`,
    ...(resumed_after === null
      ? []
      : [`  It continued an interrupted rebuild after position ${resumed_after} of the log.`]),
    ...comparisonText(report),
    `  Queries read ${table}.`,
    ...(replaced === null ? [] : [`  ${replaced} is kept until \`projections prune ${name}\`.`]),
  ].join('\n')
}

function comparisonText({ table, replaced, comparison }: RebuildReport): string[] {
  if (replaced === null) return []
  if (comparison === null)
    return [`  ${table} was not compared: ${replaced} has another schema version, or was behind it.`]
  const { differing, rows, hash, position, differences } = comparison
  const at = position === null ? 'at the start of the log' : `at position ${position} of the log`
  if (differing === 0)
    return [`  ${replaced} had the same rows: ${counted(rows.found, 'row')}, hash ${hash.found}, ${at}.`]
  return [
    `  ${counted(differing, 'row')} of ${replaced} differed from the log and are corrected in ${table} (${rows.found} rows instead`,
    `  of ${rows.expected}, ${at}):`,
    ...differences.map(rowText),
    ...moreThan(differences.length, differing),
  ]
}

/** The reason, and which table queries read now. */
export async function failureText(pool: Pool, failed: readonly FailedProjection[]): Promise<string> {
  const lines = failed.map(async ({ projection, outcome, reason }) => {
    const text = `${projection} was not rebuilt: ${reason}.`
    if (outcome === 'not begun') return text
    return `${text} ${await remainingTables(pool, projection).catch(() => 'The database cannot be reached to see which table is live.')}`
  })
  return (await Promise.all(lines)).join('\n')
}

async function remainingTables(pool: Pool, name: string): Promise<string> {
  const tables = await listTables(pool, name)
  const held = await heldLocks(pool, [rebuildLock({ name })])
  const live = tables.find(({ state }) => state === 'live')
  const left = held.size > 0 ? [] : tables.filter(({ state }) => state === 'building')
  return [
    live === undefined ? 'There is no live table.' : `Queries read ${tableName({ name }, live.version)}, as before.`,
    ...left.map(
      ({ version }) =>
        `${tableName({ name }, version)} is unfinished. The next rebuild continues it; \`projections prune\` drops it.`,
    ),
  ].join(' ')
}

export const projectionsRebuild = replayCommand<RebuildReport>({
  kind: 'rebuild',
  textOf: rebuiltText,
  summary: 'Fill projections again from the log, while everything runs',
  json: 'one object: projections, each with its outcome',
  about: [
    'Fills a new table from the log beside the live one and switches to it atomically. Queries read the old table until',
    'then, and nothing has to be stopped. Before the switch both tables are compared at the same position of the log.',
    `Differing rows of the old table are counted, and the first ${maxShown} are shown. The old table is kept until`,
    '`projections prune`.',
    '',
    'It may be interrupted and repeated at any time. An interrupted rebuild changes nothing, and the next one continues it;',
    '`projections prune` drops its unfinished table, so that the next one reads the log from its start.',
    '',
    'NAME is that of `projections list`.',
    'Exits with 0 when all were rebuilt, whether or not rows differed, and with 1 otherwise.',
  ],
  async conclude(_reports, failed, pool) {
    return { problem: failed.length === 0 ? undefined : await failureText(pool, failed) }
  },
})
