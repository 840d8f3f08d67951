// Soft-deleted streams. A server that appends to one, or to its metadata, adds a metadata event of its own that brings the
// stream back: it must not be copied, because the target makes it too.

import { isDeepStrictEqual } from 'node:util'
import {
  describeEvent,
  isCopiedStream,
  metadataType,
  originalStreamOf,
  type RawEvent,
  tombstoneRevision,
} from '../raw/rawEvent.ts'

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
function createSoftDeletions(): SoftDeletions {
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
function isServerGenerated({ stream, type, revision }: RawEvent): boolean {
  return revision === tombstoneRevision || (type === metadataType && originalStreamOf(stream) !== undefined)
}

// Two logs side by side: the moved events of one must be those of the other, in the same order.

/** The logs are not the same; the message names the first difference. */
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
  /** Tells of an event that was just written to the target, after its end was reached. */
  recordWritten(event: RawEvent): void
  /** Tells of an event that the target has made itself; the source's counterpart comes later. */
  recordGenerated(event: RawEvent): void
  /** @throws LogDifferenceError when the target has something that the source has not */
  finish(): Promise<void>
  readonly softDeletions: SoftDeletions
  /** How many counterparts have an id of their own, because both servers made the event. */
  readonly serverGenerated: number
}

/** @param target the target's events in order, from the start, system events too */
export function compareWith(target: AsyncIterable<RawEvent>): LogComparison {
  const events = copiedEvents(target)
  const softDeletions = createSoftDeletions()
  // A source's server may have brought a stream back a moment after others wrote; the target does it at once.
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
      if (extra) throw new LogDifferenceError(`The target has ${describeEvent(extra)}, which the source has not`)
    },
  }
}

/** The events that are moved, out of all. */
export async function* copiedEvents(events: AsyncIterable<RawEvent>): AsyncGenerator<RawEvent, void> {
  for await (const event of events) if (isCopiedStream(event.stream)) yield event
}

const revisionKeyOf = ({ stream, revision }: RawEvent) => `${revision}@${stream}`

const text = (value: Uint8Array) => Buffer.from(value).toString()
const sameBytes = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** @returns whether the two are the same but for an id that each server has made */
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

/** Servers of several versions may write the same metadata with other spaces. */
function sameJson(source: RawEvent, target: RawEvent): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text(source.data)), JSON.parse(text(target.data)))
  } catch {
    return false
  }
}
