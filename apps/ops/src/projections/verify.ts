// `projections verify`: compares the live rows of projections with a replay of the log.
import { type CompletedVerification, verifiedJson, verifyOne } from '@paylog/projections/rebuild/verify'
import { rowText } from '@paylog/projections/tables/rowText'
import { tableName } from '@paylog/projections/tables/tables'
import { replayCommand } from './replayEach.ts'

const maxInText = 100
const maxInJson = 1_000

/** The result, printed after the differing rows. */
export function verifiedText({
  projection,
  live,
  expected,
  differing,
  position,
  events,
  seconds,
  kinds,
}: CompletedVerification): string {
  const { name } = projection
  const table = tableName(projection, live.version)
  const range =
    position === undefined
      ? 'at the start of the log: nothing has been applied yet'
      : `up to position ${position.commit} of the log (${events} events for it, ${seconds.toFixed(1)} s)`
  const isOne = live.rows === 1
  const all = isOne ? `the one row of ${table} is` : `all ${live.rows} rows of ${table} are`
  if (differing === 0) return `${name}: ${all} equal to the log, ${range}.`
  const rest = differing - maxInText
  const each = `${kinds.missing} missing, ${kinds.extra} extra, ${kinds.different} different`
  return [
    ...(rest > 0 ? [`  … and ${rest} more.`] : []),
    `${name}: ${differing === 1 ? '1 row differs' : `${differing} rows differ`} (${each}): ${table} has ${live.rows} rows and should have ${expected.rows}, ${range}.`,
  ].join('\n')
}

const exitDifferent = 3

export const projectionsVerify = replayCommand(
  {
    summary: 'Compare the live rows of projections with a replay of the log',
    json: `one object: projections, each with its counts and up to ${maxInJson} differences`,
    about: [
      'Replays the log into a separate table, up to the position of the projection, and compares both as of one moment, while',
      'everything runs. Every missing, extra or different row is shown with the found and expected values. More than',
      `${maxInText} rows of a projection are only counted. \`projections rebuild\` corrects them.`,
      '',
      'NAME is that of `projections list`.',
      'Exits with 0 when all rows equal the log, with 3 when rows differ, and with 1 when a projection could not be checked.',
    ],
  },
  () => {
    const different: string[] = []
    return {
      action: 'verify_projection',
      async replay(options, writeLine) {
        const verified = await verifyOne({
          ...options,
          maxRows: maxInJson,
          // Rows are printed as soon as they are found.
          async onRow(row, found) {
            if (found === 1) await writeLine?.(`${options.projection.name}: rows that differ from the log:`)
            if (found <= maxInText) await writeLine?.(rowText(row))
          },
        })
        if (verified.differing > 0) different.push(verified.projection.name)
        return { text: verifiedText(verified), json: verifiedJson(verified) }
      },
      async conclude(failed) {
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
    }
  },
)
