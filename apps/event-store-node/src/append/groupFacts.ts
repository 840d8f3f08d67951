// Reads what a group needs to know, in as few queries as possible and none for the common case.
import type { HeadCache } from '../storage/headCache.ts'
import { type Queryable, readHeads, readPlacesById, readPlacesByRevision } from '../storage/logReader.ts'
import type { EventPlace } from '../storage/storedEvent.ts'
import { absentHead, headsNeeded, type StreamHead } from '../storage/streamHead.ts'
import type { GroupFacts } from './group.ts'
import { expectAny, expectStreamExists, type Proposal } from './proposal.ts'

/** A stream name holds no NUL, so this cannot collide. */
const keyOf = (stream: string, rest: string | bigint) => `${stream}\0${rest}`

/** Fills the head cache for the streams of the group and looks up ids and revisions that idempotency may turn on. */
export async function readGroupFacts(
  db: Queryable,
  cache: HeadCache,
  proposals: readonly Proposal[],
): Promise<GroupFacts> {
  const heads = await headsOf(db, cache, proposals)
  const headOf = (stream: string): StreamHead => heads.get(stream) ?? absentHead
  const byId = await placesById(db, proposals, headOf)
  const byRevision = await placesByRevision(db, proposals, headOf)
  return {
    head: headOf,
    byId: (stream, eventId) => byId.get(keyOf(stream, eventId)),
    atRevision: (stream, revision) => byRevision.get(keyOf(stream, revision)),
  }
}

async function headsOf(
  db: Queryable,
  cache: HeadCache,
  proposals: readonly Proposal[],
): Promise<Map<string, StreamHead>> {
  const heads = new Map<string, StreamHead>()
  const missing = new Set<string>()
  for (const stream of proposals.flatMap((proposal) => headsNeeded(proposal.stream))) {
    const cached = cache.get(stream)
    if (cached === undefined) missing.add(stream)
    else heads.set(stream, cached)
  }
  if (missing.size === 0) return heads
  for (const [stream, head] of await readHeads(db, [...missing])) {
    heads.set(stream, head)
    cache.set(stream, head)
  }
  return heads
}

async function placesById(
  db: Queryable,
  proposals: readonly Proposal[],
  headOf: (stream: string) => StreamHead,
): Promise<Map<string, EventPlace>> {
  const asked = proposals.flatMap((proposal) => {
    const byIds = proposal.expected === expectAny || proposal.expected === expectStreamExists
    if (proposal.kind !== 'append' || !byIds || headOf(proposal.stream).last < 0n) return []
    return proposal.events.map((event) => ({ stream: proposal.stream, eventId: event.eventId }))
  })
  if (asked.length === 0) return new Map()
  const places = await readPlacesById(db, asked)
  return indexed(asked.map((each, index) => [keyOf(each.stream, each.eventId), places[index]]))
}

async function placesByRevision(
  db: Queryable,
  proposals: readonly Proposal[],
  headOf: (stream: string) => StreamHead,
): Promise<Map<string, EventPlace>> {
  const asked = proposals.flatMap((proposal) => {
    const { stream, expected } = proposal
    // Below the committed head: either a repetition of what is there, or a conflict.
    if (proposal.kind !== 'append' || expected < -1n || expected >= headOf(stream).last) return []
    return proposal.events.map((_, index) => ({ stream, revision: expected + 1n + BigInt(index) }))
  })
  if (asked.length === 0) return new Map()
  const places = await readPlacesByRevision(db, asked)
  return indexed(asked.map((each, index) => [keyOf(each.stream, each.revision), places[index]]))
}

function indexed(entries: readonly (readonly [string, EventPlace | undefined])[]): Map<string, EventPlace> {
  const places = new Map<string, EventPlace>()
  for (const [key, place] of entries) if (place !== undefined) places.set(key, place)
  return places
}
