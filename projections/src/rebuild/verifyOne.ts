// Verifies a projection for an operator, who does not wait for others and gets a report.
import type { Projection } from '../projection.ts'
import type { RowDifference } from '../tables/comparison.ts'
import { rowJson } from '../tables/rowText.ts'
import { tableName } from '../tables/tables.ts'
import { ProjectionBusyError, type ReplayOptions, unlessBusy } from './replay.ts'
import { type Verification, verify } from './verify.ts'

type Kinds = Readonly<Record<RowDifference['kind'], number>>

export type CompletedVerification = Verification & {
  readonly projection: Projection
  readonly seconds: number
  readonly kinds: Kinds
  readonly first: readonly RowDifference[]
}

type VerifyOptions = ReplayOptions & {
  /** How many of the differing rows are returned; the others are counted. */
  readonly maxRows: number
  /** Called for each differing row, with its number from 1. */
  readonly onRow?: (row: RowDifference, found: number) => Promise<void>
}

/** @throws ProjectionBusyError when another process is verifying it; errors of `verify` */
export async function verifyOne(options: VerifyOptions): Promise<CompletedVerification> {
  const { projection, signal, onProgress, maxRows, onRow } = options
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
        if (first.length < maxRows) first.push(row)
        await onRow?.(row, found)
      },
    }),
  )
  if (verified === 'busy') throw new ProjectionBusyError('another verification is running; try again when it has ended')
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
