// What happened to the log where its first leaf differs from the stored tree.
import type { EventName } from '@paylog/event-store/export/difference'

/** An event of the log, without its content. */
export type LogLeaf = { readonly hash: Buffer; readonly event: EventName }
/** A leaf of the stored tree. The position is the one that its event had. */
export type StoredLeaf = { readonly hash: Buffer; readonly position: bigint }

export type LeafDifference = {
  /** Of the first leaf that differs. */
  readonly index: number
  /** Its position: in the log, or where the event was. Null for an event after the end of an empty log. */
  readonly position: string | null
  /** The event that precedes it in the log. */
  readonly after: EventName | null
} & (
  | { readonly kind: 'changed' | 'added' | 'order'; readonly event: EventName }
  /** `event` is the one that follows in the log, `count` how many are gone at this place. */
  | { readonly kind: 'missing'; readonly count: number; readonly before: EventName }
  /** The log ends before the tree does. */
  | { readonly kind: 'truncated'; readonly count: number }
)

/** How far an event may have been moved and still count as moved, not as missing and added. */
export const windowLeaves = 1_000

type Place = {
  readonly index: number
  readonly after: EventName | null
  /** The next leaves, from the first that differs on. */
  readonly log: readonly LogLeaf[]
  readonly stored: readonly StoredLeaf[]
  /** Leaves of the stored tree. */
  readonly treeSize: number
}

/** @returns undefined when the first leaves are equal, or the stored tree has no more of them */
export function leafDifference({ index, after, log, stored, treeSize }: Place): LeafDifference | undefined {
  const [found] = log
  const [expected] = stored
  if (expected === undefined || found?.hash.equals(expected.hash)) return undefined
  const wasAt = { index, position: expected.position.toString(), after }
  if (found === undefined) return { kind: 'truncated', ...wasAt, count: treeSize - index }
  const { event } = found
  const isAt = { index, position: event.position, after, event }
  // How many leaves later the other side has this one; -1 when it does not.
  const foundLater = stored.findIndex(({ hash }) => hash.equals(found.hash))
  const expectedLater = log.findIndex(({ hash }) => hash.equals(expected.hash))
  if (foundLater > 0 && expectedLater > 0) return { kind: 'order', ...isAt }
  if (foundLater > 0) return { kind: 'missing', ...wasAt, count: foundLater, before: event }
  if (expectedLater > 0) return { kind: 'added', ...isAt }
  const moved = BigInt(event.position) - expected.position
  if (moved === 0n) return { kind: 'changed', ...isAt }
  return moved < 0n ? { kind: 'added', ...isAt } : { kind: 'missing', ...wasAt, count: 1, before: event }
}
