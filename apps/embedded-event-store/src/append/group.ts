// A group of proposals, decided in order against the log and each other before anything is written.
import { randomUUID } from 'node:crypto'
import {
  isMetastream,
  metastreamOf,
  originalOf,
  softDeletedMetadata,
  withTruncateBefore,
} from '../metadata/streamMetadata.ts'
import { deletedRevision, type EventPlace, type StoredEvent, tombstoneType } from '../storage/storedEvent.ts'
import { headAfter, type StreamHead, type StreamView, viewOf } from '../storage/streamHead.ts'
import { decide, type KnownEvents, returnedPosition } from './decide.ts'
import type { Outcome, Proposal, ProposedEvent } from './proposal.ts'

/** What the log contains about the streams and ids of a group. */
export type GroupFacts = {
  head(stream: string): StreamHead
  /** The first event with this id in any stream. */
  byId(eventId: string): EventPlace | undefined
  atRevision(stream: string, revision: bigint): EventPlace | undefined
}

export type Group = {
  /** Decides a proposal and stages its events; the outcome is valid once the group is committed. */
  add(proposal: Proposal): Outcome
  readonly events: readonly StoredEvent[]
  /** The heads of the streams that the group changes. */
  readonly heads: ReadonlyMap<string, StreamHead>
  /** The last used position; an empty append uses one, too. */
  readonly lastPosition: bigint
}

const emptyBytes = Buffer.alloc(0)

export function createGroup(facts: GroupFacts, afterPosition: bigint, nowTicks: bigint): Group {
  const staging = createStaging(facts, afterPosition, nowTicks)
  return {
    events: staging.events,
    heads: staging.heads,
    get lastPosition() {
      return staging.lastPosition()
    },
    add(proposal) {
      const before = viewOf(proposal.stream, staging.headOf)
      // A deletion is decided like an append of an event with a new id.
      const eventIds = proposal.kind === 'append' ? proposal.events.map((event) => event.eventId) : [randomUUID()]
      const decision = decide(before, proposal.expected, eventIds, staging.knownOf(proposal.stream))
      switch (decision.kind) {
        case 'write':
          return write(staging, proposal, before)
        case 'idempotent': {
          const { place } = decision
          return { kind: 'done', revision: place.revision, position: returnedPosition(before, place, nowTicks) }
        }
        case 'wrong_expected_version':
          return { kind: 'wrong_expected_version', current: before.last }
        case 'stream_deleted':
        case 'no_response':
          return { kind: decision.kind }
      }
    },
  }
}

type Staging = ReturnType<typeof createStaging>

/** The uncommitted events of a group, and the log as it will be with them. */
function createStaging(facts: GroupFacts, afterPosition: bigint, nowTicks: bigint) {
  const events: StoredEvent[] = []
  const heads = new Map<string, StreamHead>()
  const stagedById = new Map<string, EventPlace>()
  const stagedByStream = new Map<string, Map<bigint, EventPlace>>()
  let lastPosition = afterPosition
  return {
    events,
    heads,
    lastPosition: () => lastPosition,
    takePosition: () => {
      lastPosition += 1n
      return lastPosition
    },
    headOf: (stream: string): StreamHead => heads.get(stream) ?? facts.head(stream),
    knownOf: (stream: string): KnownEvents => ({
      byId: (eventId) => {
        // Committed events first, because the first occurrence of an id counts.
        const place = facts.byId(eventId) ?? stagedById.get(eventId)
        return place?.stream === stream ? place : undefined
      },
      atRevision: (revision) => stagedByStream.get(stream)?.get(revision) ?? facts.atRevision(stream, revision),
    }),
    add(stream: string, revision: bigint, proposed: ProposedEvent): StoredEvent {
      lastPosition += 1n
      const event = { ...proposed, stream, revision, position: lastPosition, createdTicks: nowTicks }
      events.push(event)
      heads.set(stream, headAfter(event))
      if (!stagedById.has(event.eventId)) stagedById.set(event.eventId, event)
      const byRevision = stagedByStream.get(stream) ?? new Map<bigint, EventPlace>()
      stagedByStream.set(stream, byRevision.set(revision, event))
      return event
    },
  }
}

function write(staging: Staging, proposal: Proposal, before: StreamView): Outcome {
  const { stream } = proposal
  if (proposal.kind === 'append') return append(staging, stream, proposal.events, before)
  if (proposal.kind === 'tombstone') {
    const tombstone = staging.add(stream, deletedRevision, systemEvent(tombstoneType, false, emptyBytes))
    return { kind: 'done', revision: deletedRevision, position: tombstone.position }
  }
  if (before.last < 0n && before.metastreamLast < 0n) return { kind: 'wrong_expected_version', current: -1n }
  // After a tombstone of the metastream there is no revision left for the deletion marker.
  if (before.metastreamLast === deletedRevision) return { kind: 'stream_deleted' }
  const marker = addMetadata(staging, stream, softDeletedMetadata)
  return { kind: 'done', revision: before.last, position: marker.position }
}

function append(staging: Staging, stream: string, events: readonly ProposedEvent[], before: StreamView): Outcome {
  const revived = isMetastream(stream) ? softDeletedOriginal(staging, stream) : undefined
  const last = events.reduce<StoredEvent | undefined>(
    (_, event) => staging.add(stream, staging.headOf(stream).last + 1n, event),
    undefined,
  )
  // In EventStoreDB, an empty append takes a position and restores a deleted stream.
  const position = last?.position ?? staging.takePosition()
  if (before.deletionMark !== undefined) undelete(staging, stream, before.deletionMark, before.last + 1n)
  if (revived !== undefined) {
    undelete(staging, revived, last?.data ?? staging.headOf(stream).deletionMark, staging.headOf(revived).last + 1n)
  }
  return { kind: 'done', revision: last?.revision ?? before.last, position }
}

/** The stream that new metadata restores. */
function softDeletedOriginal(staging: Staging, metastream: string): string | undefined {
  return staging.headOf(metastream).deletionMark === undefined ? undefined : originalOf(metastream)
}

/** A restored stream starts where it was deleted; earlier events stay hidden. */
function undelete(staging: Staging, stream: string, rawMetadata: Buffer | undefined, firstRevision: bigint): void {
  // A signed 64-bit number, as in EventStoreDB: after a tombstone at 2^63-1 it overflows, and a negative `$tb` is ignored.
  const merged = rawMetadata && withTruncateBefore(rawMetadata, BigInt.asIntN(64, firstRevision))
  if (merged !== undefined) addMetadata(staging, stream, merged)
}

function addMetadata(staging: Staging, stream: string, data: Buffer): StoredEvent {
  const metastream = metastreamOf(stream)
  return staging.add(metastream, staging.headOf(metastream).last + 1n, systemEvent('$metadata', true, data))
}

function systemEvent(type: string, isJson: boolean, data: Buffer): ProposedEvent {
  return { eventId: randomUUID(), type, isJson, metadata: emptyBytes, data }
}
