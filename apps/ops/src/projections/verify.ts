// `projections verify`: compares the live rows of projections with a replay of the log.
import type { VerifyReport } from '@paylog/projections/rebuild/verify'
import { rowText } from '@paylog/projections/tables/rowText'
import { exitDifferent } from '../command.ts'
import { counted, moreThan } from '../texts.ts'
import { replayCommand } from './replayEach.ts'

function verifiedText(report: VerifyReport): string {
  const { projection: name, table, rows, differing, differences, position, events, seconds } = report
  const range =
    position === null
      ? 'at the start of the log: nothing has been applied yet'
      : `up to position ${position} of the log (${events} events for it, ${seconds.toFixed(1)} s)`
  const all = rows.found === 1 ? `the one row of ${table} is` : `all ${rows.found} rows of ${table} are`
  if (differing === 0) return `${name}: ${all} equal to the log, ${range}.`
  const each = `${report.missing} missing, ${report.extra} extra, ${report.different} different`
  return [
    `${name}: rows that differ from the log:`,
    ...differences.map(rowText),
    ...moreThan(differences.length, differing),
    `${name}: ${counted(differing, 'row differs', 'rows differ')} (${each}): ${table} has ${rows.found} rows and should have ${rows.expected}, ${range}.`,
  ].join('\n')
}

export const projectionsVerify = replayCommand<VerifyReport>({
  kind: 'verify',
  textOf: verifiedText,
  summary: 'Compare the live rows of projections with a replay of the log',
  json: 'one object: projections, each with its counts and up to 100 differences',
  about: [
    'Replays the log into a separate table, up to the position of the projection, and compares both as of one moment, while',
    'everything runs. Every missing, extra or different row is shown with the found and expected values. More than',
    '100 rows of a projection are only counted. `projections rebuild` corrects them.',
    '',
    'NAME is that of `projections list`.',
    'Exits with 0 when all rows equal the log, with 3 when rows differ, and with 1 when a projection could not be checked.',
  ],
  async conclude(reports, failed) {
    const different = reports.filter(({ differing }) => differing > 0).map(({ projection }) => projection)
    const isEqual = failed.length === 0 && different.length === 0
    const lines = failed.map(({ projection, reason }) => `${projection} was not checked: ${reason}.`)
    if (different.length > 0)
      lines.push(`Rows differ. To correct them: npm run -s ops -- projections rebuild ${different.join(' ')}`)
    return {
      json: { equal: isEqual },
      problem: isEqual ? undefined : lines.join('\n'),
      exitCode: failed.length === 0 ? exitDifferent : 1,
    }
  },
})
