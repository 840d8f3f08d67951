// Recomputes the tree from the log in one pass, and compares it with the stored leaves and with checkpoints.
import type { Checkpoint } from '@paylog/audit-log/checkpoint'
import { isLeaf, leafHash } from '@paylog/audit-log/leaf'
import { createFrontier } from '@paylog/audit-log/tree'
import { readLeaves } from '@paylog/audit-log/treeStore'
import type { RawClient } from '@paylog/event-store/connection/calls'
import type { EventName } from '@paylog/event-store/export/difference'
import { readEvents } from '@paylog/event-store/read/readPage'
import { readLogEnd } from '@paylog/event-store/read/reads'
import type { Run } from '../defineCommand.ts'
import { logProgress } from '../progressLine.ts'
import type { Pool } from '../system.ts'

/** An event of the log, without its content. */
export type LogLeaf = { readonly hash: Buffer; readonly event: EventName }
/** A leaf of the stored tree. The position is the one that its event had. */
export type StoredLeaf = { readonly hash: Buffer; readonly position: bigint }

/** The first leaf of the log that is not the one of the stored tree. */
export type LeafDifference = {
  /** `truncated`: the log ends before the tree does. */
  readonly kind: 'changed' | 'added' | 'missing' | 'truncated'
  readonly index: number
  /** That of `event`, or the one that the missing event had. */
  readonly position: string
  /** What the log has there; null at its end. */
  readonly event: EventName | null
  /** The event that precedes it in the log. */
  readonly after: EventName | null
}

type Signed = Pick<Checkpoint, 'size' | 'root'>

type Comparison<One extends Signed> = {
  readonly log: AsyncIterable<LogLeaf>
  readonly stored: AsyncGenerator<StoredLeaf, void>
  /** By size. */
  readonly checkpoints: AsyncGenerator<One, void>
  readonly isSame: (leaf: LogLeaf, stored: StoredLeaf) => boolean
  /** Called for each checkpoint. @param isRight whether the log leads to it @param last the last event that it covers */
  readonly onCheckpoint: (checkpoint: One, isRight: boolean, last: EventName | null) => void
}

export type Compared = {
  /** Leaves of the log. */
  readonly events: number
  readonly last: EventName | null
  readonly difference: LeafDifference | undefined
}

/** @throws the errors of the sources */
export async function compareLog<One extends Signed>(comparison: Comparison<One>): Promise<Compared> {
  const { log, stored, checkpoints, isSame, onCheckpoint } = comparison
  const tree = createFrontier()
  let last: EventName | null = null
  let difference: LeafDifference | undefined
  let next = await checkpoints.next()
  const judge = async (upTo: number) => {
    for (; !next.done && next.value.size <= upTo; next = await checkpoints.next()) {
      const { size, root } = next.value
      onCheckpoint(next.value, size === tree.size() && root.equals(tree.root()), last)
    }
  }
  await judge(0)
  for await (const leaf of log) {
    const { event } = leaf
    const known = difference === undefined ? (await stored.next()).value : undefined
    if (known && !isSame(leaf, known)) difference = { index: tree.size(), event, after: last, ...placed(event, known) }
    tree.append(leaf.hash)
    last = event
    await judge(tree.size())
  }
  await judge(Number.POSITIVE_INFINITY)
  const events = tree.size()
  const rest = difference === undefined ? (await stored.next()).value : undefined
  if (rest) difference = { kind: 'truncated', index: events, position: String(rest.position), event: null, after: last }
  return { events, last, difference }
}

/** An event that was removed or added shifts all that follow. */
function placed({ position }: EventName, known: StoredLeaf): Pick<LeafDifference, 'kind' | 'position'> {
  const moved = BigInt(position) - known.position
  if (moved > 0n) return { kind: 'missing', position: String(known.position) }
  return { kind: moved < 0n ? 'added' : 'changed', position }
}

/** A command that reads the whole log. */
export type WholeLog = Pick<Run, 'signal' | 'progress'> & { readonly log: RawClient; readonly pool: Pool }

/** The leaves of the log. */
export async function* leavesOf({ log, signal, progress }: WholeLog): AsyncGenerator<LogLeaf, void> {
  const head = (await readLogEnd(log))?.position.commit ?? null
  let events = 0
  for await (const event of readEvents(log)) {
    signal.throwIfAborted()
    if (!isLeaf(event)) continue
    const { id, stream, type } = event
    const [revision, position] = [String(event.revision), String(event.position.commit)]
    yield { hash: leafHash(event), event: { id, stream, revision, position, type } }
    progress.show(logProgress('Verifying', { events: ++events, position, head }))
  }
}

/** A stored tree with a gap is no witness any more from there on, and the checkpoints still are. */
export async function* storedLeaves(
  pool: Pool,
  size: number,
  onProblem: (problem: string) => void,
): AsyncGenerator<StoredLeaf, void> {
  try {
    yield* readLeaves(pool, size)
  } catch (error) {
    // Errors of the database have a code.
    if (!(error instanceof Error) || 'code' in error) throw error
    onProblem(error.message)
  }
}
