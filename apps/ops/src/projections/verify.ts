// `projections verify`: compares the live rows of projections with a replay of the log.
import type { Projection } from '@paylog/projections/projection'
import { type Verification, verify } from '@paylog/projections/rebuild/verify'
import type { RowDifference } from '@paylog/projections/tables/comparison'
import { tableName } from '@paylog/projections/tables/tables'
import { type CliCommand, OpsError } from '../command.ts'
import type { Print } from '../printTo.ts'
import { unlessBusy } from './readModels.ts'
import { type ReplayOptions, replayEach } from './replayEach.ts'
import { rowJson, rowText } from './rowText.ts'

export const maxInText = 100
export const maxInJson = 1_000

type Kinds = Readonly<Record<RowDifference['kind'], number>>

type CompletedVerification = Verification & {
  readonly projection: Projection
  readonly seconds: number
  readonly kinds: Kinds
  readonly first: readonly RowDifference[]
}

type VerifyOptions = ReplayOptions & {
  /** Prints rows as soon as they are found, unless undefined. */
  readonly writeLine: Print | undefined
}

/** @throws OpsError when another process is verifying it; errors of `verify` */
export async function verifyOne(options: VerifyOptions): Promise<CompletedVerification> {
  const { projection, signal, onProgress, writeLine } = options
  const { name } = projection
  const first: RowDifference[] = []
  const kinds = { missing: 0, extra: 0, different: 0 }
  let found = 0
  const startedAt = performance.now()
  onProgress({ projection: name, step: 'filling', events: 0, position: undefined, end: undefined })
  const verified = await unlessBusy(signal, (locking) =>
    verify({
      ...options,
      ...locking,
      onProgress: ({ phase, ...reading }) => onProgress({ projection: name, step: phase, ...reading }),
      async onDifference(row) {
        signal.throwIfAborted()
        found += 1
        kinds[row.kind] += 1
        if (first.length < maxInJson) first.push(row)
        if (found === 1) await writeLine?.(`${name}: rows that differ from the log:`)
        if (found <= maxInText) await writeLine?.(rowText(row))
      },
    }),
  )
  if (verified === 'busy') throw new OpsError('another verification is running; try again when it has ended')
  return { ...verified, projection, seconds: (performance.now() - startedAt) / 1_000, kinds, first }
}

/** Positions and hashes as decimal strings. */
export function verifiedJson({
  projection,
  live,
  expected,
  differing,
  position,
  events,
  seconds,
  kinds,
  first,
}: CompletedVerification) {
  return {
    projection: projection.name,
    outcome: differing === 0 ? 'equal' : 'different',
    table: tableName(projection, live.version),
    version: live.version,
    schema_version: projection.schemaVersion,
    position: position?.commit.toString() ?? null,
    events,
    seconds: Math.round(seconds * 1_000) / 1_000,
    rows: { found: live.rows, expected: expected.rows },
    hash: { found: live.hash, expected: expected.hash },
    differing,
    ...kinds,
    differences: first.map(rowJson),
    truncated: first.length < differing,
  }
}

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

export const projectionsVerify: CliCommand = {
  usage: 'NAME… | --all [--json]',
  summary: 'Compare the live rows of projections with a replay of the log',
  details: [
    'Replays the log into a separate table, up to the position of the projection, and compares both as of one moment, while',
    'everything runs. Every missing, extra or different row is shown with the found and expected values. More than',
    `${maxInText} rows of a projection are only counted. \`projections rebuild\` corrects them.`,
    '',
    '  NAME…   the projections to verify, as `projections list` names them',
    '  --all   every projection, one after the other',
    `  --json  one object: projections, each with its counts and up to ${maxInJson} differences`,
    '',
    'Exits with 0 when all rows equal the log, with 3 when rows differ, and with 1 when a projection could not be checked.',
  ].join('\n'),
  run(args, context) {
    const different: string[] = []
    return replayEach(args, context, {
      async replay(options, writeLine) {
        const verified = await verifyOne({ ...options, writeLine })
        if (verified.differing > 0) different.push(verified.projection.name)
        return { text: verifiedText(verified), json: verifiedJson(verified) }
      },
      summary: (failed) => ({ equal: failed.length === 0 && different.length === 0 }),
      async problem(failed) {
        const lines = failed.map(({ projection, reason }) => `${projection} was not checked: ${reason}.`)
        if (different.length > 0)
          lines.push(`Rows differ. To correct them: npm run -s ops -- projections rebuild ${different.join(' ')}`)
        if (lines.length === 0) return undefined
        return new OpsError(lines.join('\n'), { exitCode: failed.length === 0 ? exitDifferent : 1 })
      },
    })
  },
}
