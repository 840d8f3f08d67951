// `projections rebuild`: fills projections again from the log and replaces their live tables.
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { type CompletedRebuild, maxShown, rate, rebuildOne, rebuiltJson } from '@paylog/projections/rebuild/rebuildOne'
import { heldLocks } from '@paylog/projections/rebuild/replay'
import { rowText } from '@paylog/projections/tables/rowText'
import { listTables, tableName } from '@paylog/projections/tables/tables'
import type { Pool } from '../system.ts'
import { type FailedProjection, replayCommand } from './replayEach.ts'

export function rebuiltText(done: CompletedRebuild): string {
  const { projection, version, replaced, events, resumedAfter, rows, seconds } = done
  const { name } = projection
  const speed = `${seconds.toFixed(1)} s (${rate(events, seconds)}/s)`
  return [
    `${name}: rebuilt from ${countText(events, 'event')} in ${speed}, ${countText(rows, 'row')}.`,
    ...(resumedAfter === undefined
      ? []
      : [`  It continued an interrupted rebuild after position ${resumedAfter.commit} of the log.`]),
    ...comparisonText(done),
    `  Queries read ${tableName(projection, version)}.`,
    ...(replaced === undefined
      ? []
      : [`  ${tableName(projection, replaced.version)} is kept until \`projections prune ${name}\`.`]),
  ].join('\n')
}

function comparisonText({ projection, version, replaced, comparison, shown }: CompletedRebuild): string[] {
  if (replaced === undefined) return []
  const [before, now] = [tableName(projection, replaced.version), tableName(projection, version)]
  if (comparison === undefined) {
    const reason =
      replaced.schema_version === projection.schemaVersion
        ? `${now} was already past the position of ${before}`
        : `${before} had schema version ${replaced.schema_version} and ${now} has ${projection.schemaVersion}`
    return [`  ${reason}: not compared.`]
  }
  const { differing, live, expected, position } = comparison
  const at = position === undefined ? 'at the start of the log' : `at position ${position.commit} of the log`
  if (differing === 0)
    return [`  ${before} had the same rows: ${countText(live.rows, 'row')}, hash ${live.hash}, ${at}.`]
  const rest = differing - shown.length
  return [
    `  ${countText(differing, 'row')} of ${before} differed from the log and are corrected in ${now} (${live.rows} rows instead`,
    `  of ${expected.rows}, ${at}):`,
    ...shown.map(rowText),
    ...(rest > 0 ? [`  … and ${rest} more.`] : []),
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

const countText = (count: number, thing: string) => `${count} ${count === 1 ? thing : `${thing}s`}`

export const projectionsRebuild = replayCommand(
  {
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
  },
  () => ({
    action: 'rebuild_projection',
    async replay(options) {
      const rebuilt = await rebuildOne(options)
      return { text: rebuiltText(rebuilt), json: rebuiltJson(rebuilt) }
    },
    async conclude(failed, pool) {
      return { problem: failed.length === 0 ? undefined : await failureText(pool, failed) }
    },
  }),
)
