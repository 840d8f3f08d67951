// Whether the stored tree is that of the log, and which signed checkpoints are: what the projector stops at.
import { isLeaf, leafHash } from '@paylog/audit-log/leaf'
import { createFrontier } from '@paylog/audit-log/tree'
import {
  newestCheckpoint,
  readCheckpoints,
  readLeaves,
  readTree,
  type StoredCheckpoint,
  type StoredLeaf,
  type StoredTree,
} from '@paylog/audit-log/treeStore'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { lookAhead } from '@paylog/event-store/export/lookAhead'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { readEvents } from '@paylog/event-store/read/readPage'
import type { Pool } from '../system.ts'

export type TreeState = {
  /** Leaves of the log. */
  readonly events: number
  /**
   * Why the stored tree is not that of the log, or why the projector signs nothing, as a sentence without its full stop;
   * undefined when there is no reason.
   */
  readonly problem: string | undefined
  /** The checkpoints that are not those of the log, by size. */
  readonly wrong: readonly Pick<StoredCheckpoint, 'size' | 'made_at'>[]
  /** How many are. */
  readonly right: number
  /** The largest size of a checkpoint that was compared. */
  readonly compared: number
  /** The largest checkpoint that is that of the log. */
  readonly newestRight: string | null
}

/**
 * Reads the whole log once.
 * @param options `isSigned` says whether a key of ours signed a note; `onEvent` is called for each leaf of the log
 * @throws the errors of the log and of Postgres
 */
export async function compareTree(options: {
  readonly log: RawClient
  readonly pool: Pool
  readonly isSigned: (note: string) => boolean
  readonly signal: AbortSignal
  readonly onEvent: (position: bigint, events: number) => void
}): Promise<TreeState> {
  const { log, pool, isSigned, signal, onEvent } = options
  // Before the log is read, so that the log has at least the events of the tree and of the checkpoints.
  const tree = await readTree(pool)
  const newest = await newestCheckpoint(pool)
  const leaves = compareLeaves(pool, tree)
  const checkpoints = compareCheckpoints(pool, newest?.size ?? 0, isSigned)
  const frontier = createFrontier()
  for await (const event of readEvents(log)) {
    signal.throwIfAborted()
    leaves.pass(event)
    if (!isLeaf(event)) continue
    const hash = leafHash(event)
    frontier.append(hash)
    await leaves.compare(hash, event)
    await checkpoints.compare(frontier.size(), () => frontier.root())
    onEvent(event.position.commit, frontier.size())
  }
  const problem = (await leaves.problem()) ?? tree.stoppedBecause ?? undefined
  return { events: frontier.size(), problem, ...(await checkpoints.result()) }
}

function compareLeaves(pool: Pool, { size, position: last }: StoredTree) {
  const stored = lookAhead(readLeaves(pool, size))
  let found: string | undefined
  let isPassed = last === undefined
  /** Undefined at the end of the tree, or where it is damaged. */
  const next = async (): Promise<StoredLeaf | undefined> => {
    try {
      return found === undefined ? await stored.take() : undefined
    } catch (error) {
      // Errors of the database have a code.
      if (!(error instanceof Error) || 'code' in error) throw error
      found = `The stored tree is incomplete: ${error.message}`
      return undefined
    }
  }
  return {
    /** Every event of the log, leaf or not: the tree continues after the last one that it has read. */
    pass({ id, position }: RawEvent) {
      isPassed ||= position.commit === last?.commit && id === last.eventId
    },
    async compare(hash: Buffer, { position }: RawEvent): Promise<void> {
      const leaf = await next()
      if (leaf !== undefined && !(leaf.hash.equals(hash) && leaf.position === position.commit))
        found = `At position ${position.commit} the log does not have the event of the stored tree`
    },
    async problem(): Promise<string | undefined> {
      const rest = await next()
      if (rest !== undefined)
        found = `The log ends before the stored tree: ${size - rest.index} of its events are missing`
      if (found === undefined && !isPassed)
        found = `The log does not have the last event that the tree has read, at position ${last?.commit}`
      return found
    },
  }
}

function compareCheckpoints(pool: Pool, compared: number, isSigned: (note: string) => boolean) {
  const stored = lookAhead(readCheckpoints(pool))
  const wrong: Pick<StoredCheckpoint, 'size' | 'made_at'>[] = []
  let right = 0
  let newestRight: string | null = null
  const takeUpTo = async (size: number): Promise<StoredCheckpoint | undefined> => {
    const [due] = await stored.peek(1)
    return due !== undefined && due.size <= size ? await stored.take() : undefined
  }
  const setAside = ({ size, made_at }: StoredCheckpoint) => void wrong.push({ size, made_at })
  return {
    /** Call it with each size, in turn. */
    async compare(size: number, root: () => Buffer): Promise<void> {
      for (let due = await takeUpTo(size); due !== undefined; due = await takeUpTo(size)) {
        if (due.size === size && due.root.equals(root()) && isSigned(due.note)) {
          right++
          newestRight = due.note
        } else setAside(due)
      }
    },
    async result() {
      for (let due = await takeUpTo(compared); due !== undefined; due = await takeUpTo(compared)) setAside(due)
      return { wrong, right, compared, newestRight }
    },
  }
}
