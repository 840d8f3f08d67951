// Reads the facts for a group with as few queries as possible, and none in the common case.
import { isMetastream } from '../metadata/streamMetadata.ts'
import type { HeadCache } from '../storage/headCache.ts'
import { type Queryable, readHeads, readPlacesById, readPlacesByRevision } from '../storage/logReader.ts'
import type { EventPlace } from '../storage/storedEvent.ts'
import { absentHead, headsNeeded, type StreamHead } from '../storage/streamHead.ts'
import type { GroupFacts } from './group.ts'
import { expectAny, expectNoStream, expectStreamExists, type Proposal } from './proposal.ts'

type Heads = ReadonlyMap<string, StreamHead>

/**
 * The facts for a group without a query: streams that are not cached are most likely new, so they are assumed absent, and
 * the commit verifies it.
 * @returns undefined when a query is needed
 */
export function assumeGroupFacts(
  cache: HeadCache,
  proposals: readonly Proposal[],
): { readonly facts: GroupFacts; readonly assumedAbsent: readonly string[] } | undefined {
  const { known, missing } = cachedHeads(cache, proposals)
  const assumable = proposals.every((proposal) => {
    const { stream, expected } = proposal
    const isNew = !known.has(stream) && !isMetastream(stream) && (expected === expectNoStream || expected === expectAny)
    return proposal.kind === 'append' && (isNew || isDecidedByHeads(proposal, known, missing))
  })
  if (!assumable) return undefined
  // Several proposals for one stream may contain a repetition, which needs the log.
  const streams = new Set(proposals.map((proposal) => proposal.stream))
  if (streams.size < proposals.length) return undefined
  return { facts: factsOf(known, new Map(), new Map()), assumedAbsent: [...missing] }
}

/** Whether an append at the end of a known stream needs the cached heads only. */
function isDecidedByHeads({ stream, expected }: Proposal, known: Heads, missing: ReadonlySet<string>): boolean {
  const head = known.get(stream)
  return head !== undefined && expected >= head.last && headsNeeded(stream).every((needed) => !missing.has(needed))
}

/** Fills the head cache for the group's streams, and looks up the ids and revisions that idempotency depends on. */
export async function readGroupFacts(
  db: Queryable,
  cache: HeadCache,
  proposals: readonly Proposal[],
): Promise<GroupFacts> {
  const { known, missing } = cachedHeads(cache, proposals)
  const heads = new Map(known)
  if (missing.size > 0) {
    for (const [stream, head] of await readHeads(db, [...missing])) {
      heads.set(stream, head)
      cache.set(stream, head)
    }
  }
  return factsOf(heads, await placesById(db, proposals, heads), await placesByRevision(db, proposals, heads))
}

function factsOf(
  heads: Heads,
  byId: ReadonlyMap<string, EventPlace>,
  byRevision: ReadonlyMap<string, EventPlace>,
): GroupFacts {
  return {
    head: (stream) => heads.get(stream) ?? absentHead,
    byId: (eventId) => byId.get(eventId),
    atRevision: (stream, revision) => byRevision.get(placeKey(stream, revision)),
  }
}

function cachedHeads(
  cache: HeadCache,
  proposals: readonly Proposal[],
): { readonly known: Heads; readonly missing: ReadonlySet<string> } {
  const known = new Map<string, StreamHead>()
  const missing = new Set<string>()
  for (const stream of proposals.flatMap((proposal) => headsNeeded(proposal.stream))) {
    const cached = cache.get(stream)
    if (cached === undefined) missing.add(stream)
    else known.set(stream, cached)
  }
  return { known, missing }
}

async function placesById(
  db: Queryable,
  proposals: readonly Proposal[],
  heads: Heads,
): Promise<Map<string, EventPlace>> {
  const writtenHere = new Set<string>()
  const requested = proposals.flatMap((proposal) => {
    const { kind, stream, expected } = proposal
    const isEmpty = (heads.get(stream)?.last ?? -1n) < 0n && !writtenHere.has(stream)
    writtenHere.add(stream)
    if (kind !== 'append' || isEmpty || (expected !== expectAny && expected !== expectStreamExists)) return []
    return proposal.events.map((event) => event.eventId)
  })
  if (requested.length === 0) return new Map()
  const places = await readPlacesById(db, requested)
  return indexed(requested.map((eventId, index) => [eventId, places[index]]))
}

async function placesByRevision(
  db: Queryable,
  proposals: readonly Proposal[],
  heads: Heads,
): Promise<Map<string, EventPlace>> {
  const requested = proposals.flatMap((proposal) => {
    const { stream, expected } = proposal
    // Below the committed head: either a repetition or a conflict.
    const isBelow = expected >= -1n && expected < (heads.get(stream)?.last ?? -1n)
    if (proposal.kind !== 'append' || !isBelow) return []
    return proposal.events.map((_, index) => ({ stream, revision: expected + 1n + BigInt(index) }))
  })
  if (requested.length === 0) return new Map()
  const places = await readPlacesByRevision(db, requested)
  return indexed(requested.map((each, index) => [placeKey(each.stream, each.revision), places[index]]))
}

/** Unambiguous, because stream names contain no NUL. */
function placeKey(stream: string, revision: bigint): string {
  return `${stream}\0${revision}`
}

function indexed(entries: readonly (readonly [string, EventPlace | undefined])[]): Map<string, EventPlace> {
  const places = new Map<string, EventPlace>()
  for (const [key, place] of entries) if (place !== undefined) places.set(key, place)
  return places
}
