// Soft-deleted streams. A server that appends to one, or to its metadata, adds a metadata event of its own that brings the
// stream back: it must not be copied, because the target makes it too.
import { metadataType, originalStreamOf, type RawEvent, tombstoneRevision } from '../raw/rawEvent.ts'

/** What a server writes to soft-delete a stream. */
const deletion = `{"$tb":${tombstoneRevision}}`

export type SoftDeletions = {
  /** Takes notice of the next event of a log. */
  record(event: RawEvent): void
  /** The stream that this event brought back, for which the server's own metadata event is still to come. */
  restoredStream(event: RawEvent): string | undefined
  /** All streams for which it is still to come. */
  pendingStreams(): readonly string[]
  /** Whether this is the server's own metadata event that was to come. */
  isPending(event: RawEvent): boolean
  /** The revision at which it is to come. */
  pendingRevision(stream: string): bigint | undefined
  /** It does not come: the server did not take the stream for deleted. */
  forget(stream: string): void
  /** Whether the event can only have come about by deleting a stream that was soft-deleted already. */
  isRepeatedDeletion(event: RawEvent): boolean
}

type Deleted = { readonly metadataRevision: bigint; readonly isBack: boolean }

/** Follows one log from its beginning. */
export function createSoftDeletions(): SoftDeletions {
  const streams = new Map<string, Deleted>()
  const pendingRevision = (stream: string) => {
    const deleted = streams.get(stream)
    return deleted?.isBack ? deleted.metadataRevision + 1n : undefined
  }
  const isPending = ({ stream, revision, type }: RawEvent) => {
    const original = originalStreamOf(stream)
    return type === metadataType && original !== undefined && pendingRevision(original) === revision
  }
  const isRepeatedDeletion = ({ stream, data, metadata }: RawEvent) => {
    const original = originalStreamOf(stream)
    if (original === undefined || !streams.has(original)) return false
    return metadata.length === 0 && Buffer.from(data).toString() === deletion
  }
  return {
    pendingRevision,
    isPending,
    record(event) {
      const { stream, revision } = event
      const original = originalStreamOf(stream)
      const deleted = streams.get(original ?? stream)
      if (original === undefined) {
        if (deleted) streams.set(stream, { ...deleted, isBack: true })
      } else if (isPending(event)) streams.delete(original)
      // Any metadata that a client sets brings a deleted stream back, even metadata that would delete it.
      else if (deleted) streams.set(original, { metadataRevision: revision, isBack: !isRepeatedDeletion(event) })
      else if (isSoftDeletion(event)) streams.set(original, { metadataRevision: revision, isBack: false })
    },
    restoredStream({ stream }) {
      const original = originalStreamOf(stream) ?? stream
      return streams.get(original)?.isBack ? original : undefined
    },
    pendingStreams: () => [...streams].filter(([, { isBack }]) => isBack).map(([stream]) => stream),
    forget: (stream) => void streams.delete(stream),
    isRepeatedDeletion,
  }
}

/** `$tb` at 2^63-1, a number that JavaScript cannot hold, so its text is looked at. */
function isSoftDeletion({ type, data }: RawEvent): boolean {
  if (type !== metadataType) return false
  let found = false
  try {
    JSON.parse(Buffer.from(data).toString(), (key, value, ...rest: unknown[]) => {
      const context = rest[0]
      const hasSource = typeof context === 'object' && context !== null && 'source' in context
      if (key === '$tb' && hasSource && context.source === String(tombstoneRevision)) found = true
      return value
    })
  } catch {
    // Metadata that is not JSON is no metadata.
    return false
  }
  return found
}

/** Whether a server may have made the event, so that its counterpart in another log has another id. */
export function isServerGenerated({ stream, type, revision }: RawEvent): boolean {
  return revision === tombstoneRevision || (type === metadataType && originalStreamOf(stream) !== undefined)
}
