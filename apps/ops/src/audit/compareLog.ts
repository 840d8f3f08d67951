// Recomputes the tree from the log in one pass, and compares it with the stored leaves and with checkpoints.
import type { Checkpoint } from '@paylog/audit-log/checkpoint'
import { createFrontier, type Frontier } from '@paylog/audit-log/tree'
import type { EventName } from '@paylog/event-store/export/difference'
import { lookAhead } from '@paylog/event-store/export/lookAhead'
import { type LeafDifference, type LogLeaf, leafDifference, type StoredLeaf, windowLeaves } from './leafDifference.ts'

/** A checkpoint whose signature is right. */
export type SignedCheckpoint = Pick<Checkpoint, 'size' | 'root'> & {
  /** Where it was found, such as the path of its file. */
  readonly source: string
}

/** The first leaves of the log, up to `size`, are those that this checkpoint signed. */
export type Proven = {
  readonly size: number
  /** The last of them. */
  readonly event: EventName | null
  readonly by: SignedCheckpoint
}

export type LogDifference =
  /** `by`: the checkpoint that shows it; null when none covers the leaf, so that log or stored tree may be wrong. */
  | (LeafDifference & { readonly by: SignedCheckpoint | null })
  /**
   * The log does not lead to the checkpoint, and the stored leaves cannot tell where: they are those of the log, or do not
   * lead to it either. `first` and `last` are the events that may be wrong.
   */
  | {
      readonly kind: 'within'
      readonly index: number
      readonly position: string | null
      readonly first: EventName | null
      readonly last: EventName | null
      readonly by: SignedCheckpoint
      /** Where the stored leaves differ from the log, if they do. */
      readonly suspect: LeafDifference | null
    }

export type LogComparison = {
  /** Leaves of the log that were read. */
  readonly events: number
  /** Checkpoints that the log leads to. */
  readonly checkpoints: number
  readonly proven: Proven | undefined
  /** The first one. Nothing after it was compared. */
  readonly difference: LogDifference | undefined
  /** Where the stored leaves differ from a log that a later checkpoint proves: the tree was changed, not the log. */
  readonly treeDamage: LeafDifference | undefined
}

type Sources = {
  readonly log: AsyncGenerator<LogLeaf, void>
  readonly stored: AsyncGenerator<StoredLeaf, void>
  /** How many leaves are stored. */
  readonly treeSize: number
  /** By size. */
  readonly checkpoints: AsyncGenerator<SignedCheckpoint, void>
}

/** @param onEvent called for each event of the log @throws the errors of the sources */
export async function compareLog(
  { treeSize, ...sources }: Sources,
  onEvent: (event: EventName, events: number) => void,
): Promise<LogComparison> {
  const log = lookAhead(sources.log)
  const stored = lookAhead(sources.stored)
  const checkpoints = lookAhead(sources.checkpoints)
  const run = newRun()
  for (let isOver = false; ; ) {
    const [checkpoint] = await checkpoints.peek(1)
    if (checkpoint === undefined && run.suspect !== undefined) {
      // A tree that was found changed is no witness against the log.
      if (run.treeDamage === undefined) run.difference = { ...run.suspect.found, by: null }
      return comparisonOf(run)
    }
    if (checkpoint !== undefined && (checkpoint.size === run.index || isOver)) {
      await checkpoints.take()
      judge(run, checkpoint)
      if (run.difference !== undefined) return comparisonOf(run)
      continue
    }
    if (isOver) return comparisonOf(run)
    const [[leaf], [known]] = [await log.peek(1), await stored.peek(1)]
    if (run.suspect === undefined && known !== undefined && !leaf?.hash.equals(known.hash)) {
      const window = { log: await log.peek(windowLeaves), stored: await stored.peek(windowLeaves) }
      const found = leafDifference({ index: run.index, after: run.last, treeSize, ...window })
      if (found !== undefined) run.suspect = { found, last: run.last }
    }
    isOver = leaf === undefined && known === undefined
    if (isOver) continue
    add(run, await log.take(), await stored.take())
    if (leaf !== undefined) onEvent(leaf.event, run.log.size())
  }
}

type Run = {
  /** Leaves that were taken. */
  index: number
  log: Frontier
  stored: Frontier
  /** The last event of the log. */
  last: EventName | null
  /** The first event of the log after the proven ones. */
  unproven: EventName | null
  checked: number
  proven: Proven | undefined
  /** The first difference after the proven leaves, and the event before it. */
  suspect: { readonly found: LeafDifference; readonly last: EventName | null } | undefined
  difference: LogDifference | undefined
  treeDamage: LeafDifference | undefined
}

const newRun = (): Run => ({
  index: 0,
  log: createFrontier(),
  stored: createFrontier(),
  last: null,
  unproven: null,
  checked: 0,
  proven: undefined,
  suspect: undefined,
  difference: undefined,
  treeDamage: undefined,
})

const comparisonOf = ({ log, checked, proven, difference, treeDamage }: Run): LogComparison => ({
  events: log.size(),
  checkpoints: checked,
  proven,
  difference,
  treeDamage,
})

function add(run: Run, leaf: LogLeaf | undefined, known: StoredLeaf | undefined): void {
  run.index++
  if (known !== undefined) run.stored.append(known.hash)
  if (leaf === undefined) return
  run.log.append(leaf.hash)
  run.last = leaf.event
  run.unproven ??= leaf.event
}

const leadsTo = (frontier: Frontier, { size, root }: SignedCheckpoint) =>
  frontier.size() === size && frontier.root().equals(root)

/** Compares both sides, which have as many leaves as they can, with a checkpoint of this size. */
function judge(run: Run, by: SignedCheckpoint): void {
  const { suspect } = run
  if (leadsTo(run.log, by)) {
    run.checked++
    run.proven = { size: by.size, event: run.last, by }
    run.unproven = null
    run.treeDamage ??= suspect?.found
    if (suspect !== undefined) run.stored = run.log.copy()
    run.suspect = undefined
  } else if (suspect !== undefined && leadsTo(run.stored, by)) {
    run.difference = { ...suspect.found, by }
    run.proven = { size: suspect.found.index, event: suspect.last, by }
  } else run.difference = differenceWithin(run, by)
}

/** No stored leaves show where it is. */
function differenceWithin({ log, last, proven, unproven, suspect }: Run, by: SignedCheckpoint): LogDifference {
  const events = log.size()
  if (suspect === undefined && events < by.size) {
    const end = { index: events, position: last?.position ?? null, after: last }
    return { kind: 'truncated', ...end, count: by.size - events, by }
  }
  const range = { first: unproven, last, suspect: suspect?.found ?? null }
  return { kind: 'within', index: proven?.size ?? 0, position: unproven?.position ?? null, ...range, by }
}
