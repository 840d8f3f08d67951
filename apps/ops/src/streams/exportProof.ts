// Whether the lines of an export are those that the checkpoint of its manifest signed. Needs neither the log nor Postgres.
import type { Checkpoint } from '@paylog/audit-log/checkpoint'
import { leafHash } from '@paylog/audit-log/leaf'
import type { VerifierKey } from '@paylog/audit-log/note'
import { verifyConsistency } from '@paylog/audit-log/proofs'
import { createFrontier } from '@paylog/audit-log/tree'
import type { ExportedLine } from '@paylog/event-store/export/difference'
import { eventOfLine } from '@paylog/event-store/export/exportLine'
import type { Manifest } from '@paylog/event-store/export/manifest'
import { openSigned } from '../audit/checkpoints.ts'
import { decodedHashes, problemOf } from '../audit/hashes.ts'

export type ExportProof = {
  /** Null when the checkpoint was not opened. */
  readonly checkpoint: { readonly origin: string; readonly size: number } | null
  /** How many of the first lines are proven. */
  readonly events: number
  /** Why not all lines are proven; null when they are. */
  readonly limit: string | null
  /** What is wrong, if anything. */
  readonly problem: string | null
}

export type ExportProver = {
  add(line: ExportedLine): void
  /** After the last line. */
  conclude(): ExportProof
}

export function createProver({ checkpoint, filters }: Manifest, verifiers: readonly VerifierKey[]): ExportProver {
  if (checkpoint === null) return without({ limit: 'its manifest names no checkpoint' })
  if (verifiers.length === 0)
    return without({ limit: 'the checkpoint in its manifest was not checked, because --key is missing' })
  const opened = openSigned(checkpoint.note, '', verifiers)
  if ('reason' in opened) return without({ problem: opened.reason })
  if (checkpoint.consistency !== null) return lineProver(opened, checkpoint.consistency)
  const isFiltered = Object.values(filters).some((filter) => filter !== null)
  const limit = isFiltered
    ? 'it has only some of the events of the log'
    : 'its lines are not the first events of the log'
  return without({ limit, checkpoint: { origin: opened.origin, size: opened.size } })
}

/** The lines are not compared. */
const without = (proof: Partial<ExportProof>): ExportProver => ({
  add() {},
  conclude: () => ({ checkpoint: null, events: 0, limit: null, problem: null, ...proof }),
})

/** Recomputes the tree from the lines. */
function lineProver(checkpoint: Checkpoint, consistency: readonly string[]): ExportProver {
  const { origin, size } = checkpoint
  const lines = createFrontier()
  let root = size === 0 ? lines.root() : undefined
  let broken: number | undefined
  return {
    add({ number, bytes }) {
      const event = bytes === null ? undefined : eventOfLine(bytes)
      if (event === undefined) broken ??= number
      else lines.append(leafHash(event))
      if (lines.size() === size) root ??= lines.root()
    },
    conclude() {
      const count = lines.size()
      const events = Math.min(count, size)
      const named = { origin, size }
      const failed = (problem: string) => ({ checkpoint: named, events: 0, limit: null, problem })
      if (broken !== undefined && broken <= size) return failed(`line ${broken} is not an event of an export`)
      if (root !== undefined && !root.equals(checkpoint.root))
        return failed(`its first ${size} events are not those that ${origin} signed`)
      const claim = { oldSize: count, newSize: size, oldRoot: lines.root(), newRoot: checkpoint.root }
      const problem = root
        ? undefined
        : problemOf(() => verifyConsistency({ ...claim, proof: decodedHashes(consistency) }))
      if (problem !== undefined) return failed(`its events are not the first ones that ${origin} signed: ${problem}`)
      const limit = count > size ? `no checkpoint covers its last ${count - size} events` : null
      return { checkpoint: named, events, limit, problem: null }
    },
  }
}
