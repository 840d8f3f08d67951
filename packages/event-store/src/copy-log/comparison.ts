// Compares two logs event by event: the copied events must be the same, in the same order.

import { isDeepStrictEqual } from 'node:util'
import {
  describeEvent,
  isCopiedStream,
  metadataType,
  originalStreamOf,
  type RawEvent,
  tombstoneRevision,
} from '../read/rawEvent.ts'

/** The metadata that a server writes to soft-delete a stream. */
const deletion = `{"$tb":${tombstoneRevision}}`

/**
 * The soft-deleted streams of one log. An append to one, or to its metadata, makes the server add a metadata event that
 * restores the stream. That event is not copied, because the target's server adds its own.
 */
export type SoftDeletions = {
  /** Processes the next event of the log. */
  record(event: RawEvent): void
  /** The stream that this event restores, if the server's metadata event for it is still pending. */
  restoredStream(event: RawEvent): string | undefined
  /** All streams with a pending metadata event. */
  pendingStreams(): readonly string[]
  /** Whether this is a pending metadata event. */
  isPending(event: RawEvent): boolean
  /** The revision of a stream's pending metadata event. */
  pendingRevision(stream: string): bigint | undefined
  /** Drops a pending metadata event: the server did not treat the stream as deleted. */
  forget(stream: string): void
  /** Whether the event can only be the deletion of a stream that was soft-deleted already. */
  isRepeatedDeletion(event: RawEvent): boolean
}

type Deleted = { readonly metadataRevision: bigint; readonly isRestored: boolean }

/** Must see one log from its start. */
function createSoftDeletions(): SoftDeletions {
  const streams = new Map<string, Deleted>()
  const pendingRevision = (stream: string) => {
    const deleted = streams.get(stream)
    return deleted?.isRestored ? deleted.metadataRevision + 1n : undefined
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
        if (deleted) streams.set(stream, { ...deleted, isRestored: true })
      } else if (isPending(event)) streams.delete(original)
      // Any metadata that a client sets restores a deleted stream, even metadata that would delete it.
      else if (deleted) streams.set(original, { metadataRevision: revision, isRestored: !isRepeatedDeletion(event) })
      else if (isSoftDeletion(event)) streams.set(original, { metadataRevision: revision, isRestored: false })
    },
    restoredStream({ stream }) {
      const original = originalStreamOf(stream) ?? stream
      return streams.get(original)?.isRestored ? original : undefined
    },
    pendingStreams: () => [...streams].filter(([, { isRestored }]) => isRestored).map(([stream]) => stream),
    forget: (stream) => void streams.delete(stream),
    isRepeatedDeletion,
  }
}

/** Whether `$tb` is 2^63-1. JavaScript numbers cannot hold it exactly, so the JSON source text is compared. */
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
    // The server ignores metadata that is not JSON.
    return false
  }
  return found
}

/** Whether the server may have generated the event, so that its counterpart in another log has another id. */
function isServerGenerated({ stream, type, revision }: RawEvent): boolean {
  return revision === tombstoneRevision || (type === metadataType && originalStreamOf(stream) !== undefined)
}

/** The logs differ; the message names the first difference. */
export class LogDifferenceError extends Error {
  override readonly name = 'LogDifferenceError'
}

export type LogComparison = {
  /**
   * The target's counterpart of the source's next event.
   * @returns undefined when the target has ended before it
   * @throws LogDifferenceError
   */
  counterpart(source: RawEvent): Promise<RawEvent | undefined>
  /** Records an event that was written to the target after its end was reached. */
  recordWritten(event: RawEvent): void
  /** Records an event that the target's server generated; its counterpart in the source comes later. */
  recordGenerated(event: RawEvent): void
  /** @throws LogDifferenceError when the target has events that are not in the source */
  finish(): Promise<void>
  readonly softDeletions: SoftDeletions
  /** How many counterparts have another id, because each server generated its own event. */
  readonly serverGenerated: number
}

/** @param target the target's events in order, from the start, system events included */
export function compareWith(target: AsyncIterable<RawEvent>): LogComparison {
  const events = copiedEvents(target)
  const softDeletions = createSoftDeletions()
  // The source's server may have restored a stream a moment late, after other writes; the target does it at once.
  const early = new Map<string, RawEvent>()
  let serverGenerated = 0
  const matched = (source: RawEvent, found: RawEvent): RawEvent => {
    if (compareEvents(source, found)) serverGenerated += 1
    return found
  }
  return {
    softDeletions,
    get serverGenerated() {
      return serverGenerated
    },
    async counterpart(source) {
      const known = early.get(revisionKeyOf(source))
      if (known !== undefined) {
        early.delete(revisionKeyOf(source))
        return matched(source, known)
      }
      for (;;) {
        const next = await events.next()
        if (next.done) return undefined
        const isEarly = revisionKeyOf(next.value) !== revisionKeyOf(source) && softDeletions.isPending(next.value)
        softDeletions.record(next.value)
        if (!isEarly) return matched(source, next.value)
        early.set(revisionKeyOf(next.value), next.value)
      }
    },
    recordWritten: (event) => softDeletions.record(event),
    recordGenerated(event) {
      softDeletions.record(event)
      early.set(revisionKeyOf(event), event)
    },
    async finish() {
      const [left] = early.values()
      const next = await events.next()
      const extra = left ?? (next.done ? undefined : next.value)
      if (extra) throw new LogDifferenceError(`The target has ${describeEvent(extra)}, which is not in the source`)
    },
  }
}

/** Filters the events of streams that are copied. */
export async function* copiedEvents(events: AsyncIterable<RawEvent>): AsyncGenerator<RawEvent, void> {
  for await (const event of events) if (isCopiedStream(event.stream)) yield event
}

const revisionKeyOf = ({ stream, revision }: RawEvent) => `${revision}@${stream}`

const text = (value: Uint8Array) => Buffer.from(value).toString()
const sameBytes = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** @returns whether the two differ in a server-generated id only */
function compareEvents(source: RawEvent, target: RawEvent): boolean {
  const byServer = isServerGenerated(source)
  const differences = [
    source.stream !== target.stream || source.revision !== target.revision ? 'place' : undefined,
    source.type !== target.type ? 'type' : undefined,
    source.id !== target.id && !byServer ? 'id' : undefined,
    source.contentType !== target.contentType ? 'content type' : undefined,
    sameBytes(source.data, target.data) || (byServer && source.id !== target.id && sameJson(source, target))
      ? undefined
      : 'data',
    sameBytes(source.metadata, target.metadata) ? undefined : 'metadata',
  ].filter((difference) => difference !== undefined)
  if (differences.length === 0) return source.id !== target.id
  throw new LogDifferenceError(
    `The logs differ in ${differences.join(', ')}: the source has ${describeEvent(source)}, the target ${describeEvent(target)}`,
  )
}

/** Server versions differ in the whitespace of generated metadata. */
function sameJson(source: RawEvent, target: RawEvent): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text(source.data)), JSON.parse(text(target.data)))
  } catch {
    return false
  }
}
