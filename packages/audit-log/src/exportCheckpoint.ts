// The checkpoint that a new export names.
import type { ManifestCheckpoint } from '@paylog/event-store/export/manifest'
import type { Pool } from 'pg'
import { unverifiedCheckpoint } from './checkpoint.ts'
import { consistencyProof } from './proofs.ts'
import { coveringCheckpoint, leafIndexes, newestCheckpoint, readTree, storedHashes } from './treeStore.ts'

export type ExportedPart = {
  /** Commit position of the last exported event. */
  readonly last: bigint
  readonly count: number
  /** Whether the events are the first ones of the log. By default the tree says it, once it has the last one. */
  readonly isFromStart?: boolean
}

/**
 * The smallest stored checkpoint that covers all events of an export. For an export from the start of the log also a smaller one,
 * which covers its first events.
 * @returns null when there is none yet
 */
export async function findCheckpoint(
  pool: Pool,
  { last, count, ...part }: ExportedPart,
): Promise<ManifestCheckpoint | null> {
  const [index] = await leafIndexes(pool, [last])
  const covering = index === undefined ? undefined : await coveringCheckpoint(pool, index + 1)
  const { isFromStart = index !== undefined && index + 1 === count } = part
  if (!isFromStart) return covering === undefined ? null : { note: covering.note, consistency: null }
  const newest = covering ?? (await newestCheckpoint(pool))
  if (newest === undefined) return null
  const isCovered = newest.size > count && (await readTree(pool)).size >= newest.size
  const hashes = isCovered ? await consistencyProof(count, newest.size, storedHashes(pool)) : []
  return { note: newest.note, consistency: hashes.map((hash) => hash.toString('base64')) }
}

/** What the checkpoint covers, or why there is none. */
export function coverageText({ note }: ManifestCheckpoint, count: number): string {
  const { origin, size } = unverifiedCheckpoint(note)
  if (size >= count) return `The checkpoint of ${origin} over the first ${size} events of the log covers it.`
  return `The checkpoint of ${origin} covers its first ${size} events. The last ${count - size} are not covered by a checkpoint yet.`
}
