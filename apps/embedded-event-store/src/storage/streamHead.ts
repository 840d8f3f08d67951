// Where a stream ends and what of it may be read, all derived from the log itself.
import {
  isMetastream,
  isSoftDeleted,
  metastreamMetadata,
  metastreamOf,
  noMetadata,
  originalOf,
  parseStreamMetadata,
  type StreamMetadata,
} from '../metadata/streamMetadata.ts'
import { deletedRevision, ticksPerSecond } from './storedEvent.ts'

/** The last event of one stream; of a metastream also what it says. */
export type StreamHead = {
  /** -1 when there is none, 2^63-1 when the stream is tombstoned. */
  readonly last: bigint
  /** The last event before a tombstone is not kept: nothing needs it. */
  readonly metadata: StreamMetadata
  /** The metadata as written, kept only while it marks a soft delete, to be merged when the stream comes back. */
  readonly deletionMark: Buffer | undefined
}

export const absentHead: StreamHead = { last: -1n, metadata: noMetadata, deletionMark: undefined }

/** A stream together with its metastream: what appends and reads are decided by. */
export type StreamView = {
  readonly last: bigint
  /** Reads and subscriptions are refused. */
  readonly tombstoned: boolean
  /** Writes are refused. */
  readonly closed: boolean
  /** Reads do not find it. */
  readonly softDeleted: boolean
  readonly metadata: StreamMetadata
  readonly metastreamLast: bigint
  /**
   * What makes the stream a deleted one to whoever writes. The real server's writer is less particular than its reader:
   * it takes metadata that is not marked as JSON, and that of a metastream.
   */
  readonly deletionMark: Buffer | undefined
}

/** The head after an event; `data` counts only in a metastream. */
export function headAfter(event: {
  readonly stream: string
  readonly revision: bigint
  readonly isJson: boolean
  readonly data: Buffer | null
}): StreamHead {
  if (!isMetastream(event.stream) || event.data === null || event.revision === deletedRevision) {
    return { last: event.revision, metadata: noMetadata, deletionMark: undefined }
  }
  const written = parseStreamMetadata(event.data)
  return {
    last: event.revision,
    metadata: event.isJson ? written : noMetadata,
    deletionMark: isSoftDeleted(written) ? event.data : undefined,
  }
}

/** The streams whose heads make up a stream's view. */
export function headsNeeded(stream: string): string[] {
  const needed = [stream, metastreamOf(stream)]
  for (let each = stream; isMetastream(each); each = originalOf(each)) needed.push(originalOf(each))
  return needed
}

/** A tombstone takes the stream's metastream with it, and that one's own. */
function isTombstoned(stream: string, headOf: (stream: string) => StreamHead): boolean {
  if (headOf(stream).last === deletedRevision) return true
  return isMetastream(stream) && isTombstoned(originalOf(stream), headOf)
}

export function viewOf(stream: string, headOf: (stream: string) => StreamHead): StreamView {
  const { last } = headOf(stream)
  const metastream = headOf(metastreamOf(stream))
  if (isMetastream(stream)) {
    const originalIsTombstoned = isTombstoned(originalOf(stream), headOf)
    return {
      last,
      // The metastream of a tombstoned stream cannot be read either; written to it can be, if it ever was before.
      tombstoned: last === deletedRevision || originalIsTombstoned,
      closed: last === deletedRevision || (last < 0n && originalIsTombstoned),
      softDeleted: false,
      metadata: metastreamMetadata,
      metastreamLast: metastream.last,
      deletionMark: metastream.deletionMark,
    }
  }
  return {
    last,
    tombstoned: last === deletedRevision,
    closed: last === deletedRevision,
    softDeleted: isSoftDeleted(metastream.metadata),
    metadata: metastream.metadata,
    metastreamLast: metastream.last,
    deletionMark: metastream.deletionMark,
  }
}

/** The first revision that truncation leaves readable. */
export function firstReadable(view: StreamView): bigint {
  const byCount = view.metadata.maxCount === undefined ? 0n : view.last - view.metadata.maxCount + 1n
  const byTruncation = view.metadata.truncateBefore ?? 0n
  const bound = byCount > byTruncation ? byCount : byTruncation
  return bound > 0n ? bound : 0n
}

/** Events created before this are too old to be read. */
export function oldestReadableTicks(view: StreamView, nowTicks: bigint): bigint {
  const { maxAgeSeconds } = view.metadata
  if (maxAgeSeconds === undefined || maxAgeSeconds > nowTicks / ticksPerSecond) return 0n
  return nowTicks - maxAgeSeconds * ticksPerSecond
}
