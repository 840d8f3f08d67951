// Where a stream ends, and which of its events can be read, derived from the log.
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

/** The last event of a stream, and for a metastream its metadata. */
export type StreamHead = {
  /** -1 for a stream without events, 2^63-1 for a tombstoned one. */
  readonly last: bigint
  readonly metadata: StreamMetadata
  /** The raw metadata of a soft deletion, into which a new `$tb` is merged when the stream is restored. */
  readonly deletionMark: Buffer | undefined
}

export const absentHead: StreamHead = { last: -1n, metadata: noMetadata, deletionMark: undefined }

/** A stream together with its metastream, on which appends and reads are decided. */
export type StreamView = {
  readonly last: bigint
  /** Reads and subscriptions are rejected. */
  readonly tombstoned: boolean
  /** Writes are rejected. */
  readonly closed: boolean
  /** Reads report the stream as not found. */
  readonly softDeleted: boolean
  readonly metadata: StreamMetadata
  readonly metastreamLast: bigint
  /**
   * Metadata that makes the stream deleted for writers. EventStoreDB's writer also accepts metadata that is not marked as
   * JSON, and that of a metastream; its reader does not.
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

/** A tombstone also applies to the stream's metastream, and to that one's metastream. */
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
      // The metastream of a tombstoned stream cannot be read, but can be written if it has events.
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

/** The first revision that is not truncated. */
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
