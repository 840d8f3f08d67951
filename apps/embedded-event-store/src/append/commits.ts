// Decides groups of proposals and commits them, one at a time. Keeps the writer's knowledge of the log.
import { createHeadCache } from '../storage/headCache.ts'
import { ticksNow } from '../storage/storedEvent.ts'
import { absentHead, type StreamHead } from '../storage/streamHead.ts'
import type { WriterSession } from '../storage/writerSession.ts'
import type { Tail } from '../subscriptions/tail.ts'
import { createGroup, type GroupFacts } from './group.ts'
import { assumeGroupFacts, readGroupFacts } from './groupFacts.ts'
import type { Outcome, Proposal } from './proposal.ts'

const maxCachedStreams = 50_000

export type Commits = {
  /**
   * Decides the proposals in order, commits their events and publishes them to the tail.
   * @returns an outcome for each proposal
   * @throws the database's error; it is then unknown whether anything was written, and `resume` must follow
   */
  commit(session: WriterSession, proposals: readonly Proposal[]): Promise<readonly Outcome[]>
  knownHead(stream: string): StreamHead | undefined
  /** Clears everything, because the outcome of a failed commit is unknown. */
  forget(): void
  /** Continues from the last position that a new session found. */
  resume(lastPosition: bigint): void
}

type KnownFacts = { readonly facts: GroupFacts; readonly assumedAbsent: readonly string[] }

/** @param lastPosition of the log */
export function createCommits(tail: Tail, lastPosition: bigint): Commits {
  const cache = createHeadCache(maxCachedStreams)
  let position = lastPosition

  /** Undefined when a stream that was assumed absent exists; nothing was written then. */
  const decideAndCommit = async (
    session: WriterSession,
    proposals: readonly Proposal[],
    { facts, assumedAbsent }: KnownFacts,
  ): Promise<readonly Outcome[] | undefined> => {
    const group = createGroup(facts, position, ticksNow())
    const outcomes = proposals.map((proposal) => group.add(proposal))
    const { events, heads, lastPosition } = group
    if (lastPosition === position) return outcomes
    if (!(await session.commit({ events, lastPosition, absent: assumedAbsent }))) return undefined
    for (const stream of assumedAbsent) cache.set(stream, absentHead)
    for (const [stream, head] of heads) cache.set(stream, head)
    position = lastPosition
    tail.publish(events, lastPosition)
    return outcomes
  }

  return {
    async commit(session, proposals) {
      const assumed = assumeGroupFacts(cache, proposals)
      const outcomes = assumed && (await decideAndCommit(session, proposals, assumed))
      if (outcomes !== undefined) return outcomes
      const facts = await readGroupFacts(session.db, cache, proposals)
      const decided = await decideAndCommit(session, proposals, { facts, assumedAbsent: [] })
      if (decided === undefined) throw new Error('A commit without assumptions was rejected')
      return decided
    },
    knownHead: (stream) => cache.get(stream),
    forget: () => cache.clear(),
    resume(reached) {
      position = reached
      tail.resume(reached)
    },
  }
}
