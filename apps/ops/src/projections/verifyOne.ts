// One verification of one projection, and what is said of it.

import type { Projection } from '@paylog/projections/projection'
import { type Verification, verify } from '@paylog/projections/rebuild/verify'
import type { RowDifference } from '@paylog/projections/tables/comparison'
import { tableName } from '@paylog/projections/tables/tables'
import { OpsError } from '../command.ts'
import type { Print } from '../printTo.ts'
import { unlessBusy } from './readModels.ts'
import type { ReplayOptions } from './replayEach.ts'
import { rowText, rowJson } from './rowText.ts'

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
  /** Where rows are told as soon as they are found; nowhere when left out. */
  readonly say: Print | undefined
}

/** @throws OpsError when somebody else verifies it; what `verify` throws */
export async function verifyOne(options: VerifyOptions): Promise<CompletedVerification> {
  const { projection, signal, onProgress, say } = options
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
        if (found === 1) await say?.(`${name}: rows that are not what the log says:`)
        if (found <= maxInText) await say?.(rowText(row))
      },
    }),
  )
  if (verified === 'busy') throw new OpsError('somebody else is verifying it; try again when that has ended')
  return { ...verified, projection, seconds: (performance.now() - startedAt) / 1_000, kinds, first }
}

/** For machines: positions and hashes as decimal strings. */
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
    definition: projection.schemaVersion,
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

/** The verdict, after the rows that were told. */
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
  if (differing === 0) return `${name}: ${all} what the log says, ${range}.`
  const rest = differing - maxInText
  const each = `${kinds.missing} missing, ${kinds.extra} extra, ${kinds.different} different`
  return [
    ...(rest > 0 ? [`  … and ${rest} more.`] : []),
    `${name}: ${differing === 1 ? '1 row differs' : `${differing} rows differ`} (${each}): ${table} has ${live.rows} rows and should have ${expected.rows}, ${range}.`,
  ].join('\n')
}
