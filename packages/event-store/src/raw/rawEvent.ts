// An event as its bytes, for copies and exports: nothing is parsed, so nothing can change.
import type { LogPosition } from '@paylog/domain/logPosition'

export type RawEvent = {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  /** When the server recorded it: every log has its own time. */
  readonly created: Date
  readonly position: LogPosition
}

/** The revision of the event that closes a stream for good. */
export const tombstoneRevision = 2n ** 63n - 1n
export const metadataType = '$metadata'

/** Whether a stream's events are moved: those of users and their metadata, not what a server keeps for itself. */
export function isCopiedStream(stream: string): boolean {
  return !(originalStreamOf(stream) ?? stream).startsWith('$')
}

export const metastreamOf = (stream: string) => `$$${stream}`

/** The stream that a metastream describes; undefined for any other stream. */
export function originalStreamOf(stream: string): string | undefined {
  return stream.startsWith('$$') ? stream.slice(2) : undefined
}

export const isTombstone = ({ revision }: RawEvent) => revision === tombstoneRevision

/** An event in words, for messages. */
export function describeEvent({ stream, revision, type, id, position }: RawEvent): string {
  const place = revision === tombstoneRevision ? 'end' : String(revision)
  return `${stream}@${place} (${type}, id ${id}, position ${position.commit})`
}
