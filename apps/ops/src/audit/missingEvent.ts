// Finds out which event is missing from the log, of which the tree has only the hash.
import type { RawClient } from '@paylog/event-store/connection/calls'
import { readPages } from '@paylog/event-store/read/readPage'
import { readStreamPage } from '@paylog/event-store/read/reads'
import type { EventName } from '../streams/exportDifference.ts'
import { windowLeaves } from './leafDifference.ts'

export type MissingEvent = { readonly stream: string; readonly revision: string }

/** Streams whose previous event is looked up. */
const maxStreams = 200

/**
 * Looks for a stream that continues after the gap with a revision too high.
 * @param difference where the event was
 * @returns undefined when none of the next streams has a gap: the event was the last one of its stream, or its only one
 */
export async function findMissing(
  log: RawClient,
  { after }: { readonly after: EventName | null },
): Promise<MissingEvent | undefined> {
  const commit = after === null ? undefined : BigInt(after.position)
  const start = commit === undefined ? undefined : { commit, prepare: commit }
  const seen = new Set<string>()
  for await (const { events } of readPages(log, { after: start, maxEvents: windowLeaves })) {
    for (const { stream, revision } of events) {
      if (seen.has(stream) || seen.size >= maxStreams) continue
      seen.add(stream)
      if (revision === 0n || (await hasRevision(log, stream, revision - 1n))) continue
      return { stream, revision: String(revision - 1n) }
    }
    return undefined
  }
  return undefined
}

async function hasRevision(log: RawClient, stream: string, revision: bigint): Promise<boolean> {
  const [next] = (await readStreamPage(log, stream, revision, 1)).events
  // The stream may hide its events from readers.
  return next === undefined || next.revision === revision
}
