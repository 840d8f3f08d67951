// The state of the model: the log in order, its streams, and queries on them.
import { type Metadata, noMetadata, parseMetadata } from './metadata.ts'

/** The revision of a tombstone, and the `$tb` of a soft-deleted stream. */
export const lastPossibleRevision = 2n ** 63n - 1n

export type Proposed = {
  /** Undefined for events that the server generates. */
  readonly id: string | undefined
  readonly type: string
  readonly json: boolean
  readonly data: Buffer
  readonly meta: Buffer
}

export type Recorded = Proposed & {
  readonly stream: string
  readonly revision: bigint
  /** Rank among all records. An append without events leaves a record without an event, which counts too. */
  readonly position: number
  readonly createdMs: number
}

export type Store = {
  readonly log: readonly Recorded[]
  readonly streams: ReadonlyMap<string, readonly Recorded[]>
  /** The first event with an id, in any stream. `any` and `stream_exists` use nothing else. */
  readonly firstWritten: ReadonlyMap<string, Recorded>
  readonly records: number
  readonly nowMs: number
}

export const emptyStore: Store = { log: [], streams: new Map(), firstWritten: new Map(), records: 0, nowMs: 0 }

export function isMetastream(stream: string): boolean {
  return stream.startsWith('$$')
}

export function metastreamOf(stream: string): string {
  return `$$${stream}`
}

export function originalOf(metastream: string): string {
  return metastream.slice(2)
}

/** -1 for a stream without events; a metastream shares the tombstone of its stream. */
export function lastRevision(store: Store, stream: string): bigint {
  if (isMetastream(stream) && lastRevision(store, originalOf(stream)) === lastPossibleRevision) {
    return lastPossibleRevision
  }
  return store.streams.get(stream)?.at(-1)?.revision ?? -1n
}

/**
 * The writer remembers the revisions that it wrote, so it still writes to a metastream whose stream is tombstoned. It
 * rejects only a metastream without events.
 */
export function lastWritten(store: Store, stream: string): bigint {
  return store.streams.get(stream)?.at(-1)?.revision ?? lastRevision(store, stream)
}

export function eventAt(store: Store, stream: string, revision: bigint): Recorded | undefined {
  return store.streams.get(stream)?.find((event) => event.revision === revision)
}

/** The metadata of a tombstoned stream is that at the time of the tombstone. */
export function metadataOf(store: Store, stream: string): Metadata {
  if (isMetastream(stream)) return { ...noMetadata, maxCount: 1n }
  const event = store.streams.get(metastreamOf(stream))?.at(-1)
  const tombstone = eventAt(store, stream, lastPossibleRevision)
  if (event === undefined || !event.json) return noMetadata
  return tombstone !== undefined && tombstone.position < event.position ? noMetadata : parseMetadata(event.data)
}

/** Whether readers see the stream as deleted. */
export function isSoftDeleted(store: Store, stream: string): boolean {
  return metadataOf(store, stream).truncateBefore === lastPossibleRevision
}

/**
 * Whether the writer sees the stream as deleted. It remembers the metadata that it wrote (`ReaderIndex/IndexWriter.cs:
 * GetStreamMetadata`), also of a metastream, and also when that is not marked as JSON.
 */
export function isMarkedDeleted(store: Store, stream: string): boolean {
  const event = store.streams.get(metastreamOf(stream))?.at(-1)
  return event !== undefined && parseMetadata(event.data).truncateBefore === lastPossibleRevision
}

/** Writes events at the end of a stream and of the log, without checks. */
export function record(store: Store, stream: string, events: readonly Proposed[]): Store {
  const first = lastWritten(store, stream) + 1n
  const written = events.map((event, index): Recorded => {
    return {
      ...event,
      stream,
      revision:
        event.type === '$streamDeleted' && event.id === undefined ? lastPossibleRevision : first + BigInt(index),
      position: store.records + index,
      createdMs: store.nowMs,
    }
  })
  const firstWritten = new Map(store.firstWritten)
  for (const event of written) {
    if (event.id !== undefined && !firstWritten.has(event.id)) firstWritten.set(event.id, event)
  }
  return {
    ...store,
    log: [...store.log, ...written],
    streams: new Map(store.streams).set(stream, [...(store.streams.get(stream) ?? []), ...written]),
    firstWritten,
    records: store.records + Math.max(1, events.length),
  }
}
