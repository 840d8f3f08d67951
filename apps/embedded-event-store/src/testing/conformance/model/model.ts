// A small model of EventStoreDB's rules for writes, from its source and recordings, independent of the implementation.
import { withTruncateBefore } from './metadata.ts'
import { readableEvent } from './reads.ts'
import {
  eventAt,
  isMarkedDeleted,
  isMetastream,
  lastPossibleRevision,
  lastWritten,
  metastreamOf,
  originalOf,
  type Proposed,
  record,
  type Store,
} from './store.ts'

export type Expected = 'any' | 'no_stream' | 'stream_exists' | bigint

export type WriteResponse =
  | { readonly ok: { readonly revision: bigint; readonly position: number | undefined } }
  | { readonly wrong: { readonly current: bigint } }
  | { readonly deleted: true }
  /** The server sends no reply. */
  | { readonly noResponse: true }

export type Written = { readonly response: WriteResponse; readonly store: Store }

type Decision = WriteResponse | { readonly accepted: { readonly softDeleted: boolean } }

/** (`ReaderIndex/IndexWriter.cs: CheckCommit`) Decides an append of these ids at the expected revision. */
function decide(store: Store, stream: string, expected: Expected, ids: readonly (string | undefined)[]): Decision {
  const current = lastWritten(store, stream)
  if (current === lastPossibleRevision) return { deleted: true }
  const softDeleted = isMarkedDeleted(store, stream)
  if (expected === 'stream_exists') {
    if (softDeleted) return { deleted: true }
    if (current < 0n && lastWritten(store, metastreamOf(stream)) < 0n) return { wrong: { current } }
  }
  if (expected === 'any' || expected === 'stream_exists') return decideByMemory(store, stream, ids)
  const revision = expected === 'no_stream' ? -1n : expected
  if (revision > current) return { wrong: { current } }
  if (revision === current) return { accepted: { softDeleted } }
  return decideByHistory(store, stream, revision, ids)
}

/** Without an exact revision an append is a repetition when all its ids are remembered for this stream, in any order. */
function decideByMemory(store: Store, stream: string, ids: readonly (string | undefined)[]): Decision {
  const known = ids.map((id) => (id === undefined ? undefined : store.firstWritten.get(id)))
  const mine = known.filter((event) => event?.stream === stream)
  const [first] = mine
  const last = mine.at(-1)
  if (known[0]?.stream !== stream) return { accepted: { softDeleted: isMarkedDeleted(store, stream) } }
  if (mine.length < ids.length) return { wrong: { current: lastWritten(store, stream) } }
  // EventStoreDB fails to build this reply when the last revision is far below the first.
  if (first !== undefined && last !== undefined && last.revision < first.revision - 1n) return { noResponse: true }
  return repetition(store, stream, last?.revision ?? -1n)
}

/** Below the end, the events must be those at their revisions. */
function decideByHistory(
  store: Store,
  stream: string,
  revision: bigint,
  ids: readonly (string | undefined)[],
): Decision {
  const wrong = { wrong: { current: lastWritten(store, stream) } }
  if (ids.length === 0) return wrong
  const differing = ids.findIndex((id, index) => {
    const standing = eventAt(store, stream, revision + 1n + BigInt(index))
    return id === undefined || standing?.id !== id
  })
  if (differing === 0 && revision === -1n && isMarkedDeleted(store, stream)) return { accepted: { softDeleted: true } }
  if (differing >= 0) return wrong
  return repetition(store, stream, revision + BigInt(ids.length))
}

/** Only an event that can still be read has a position. */
function repetition(store: Store, stream: string, revision: bigint): WriteResponse {
  return { ok: { revision, position: readableEvent(store, stream, revision)?.position } }
}

/** (`StorageWriterService.cs: WritePrepares`) */
export function append(store: Store, stream: string, expected: Expected, events: readonly Proposed[]): Written {
  const ids = events.map((event) => event.id)
  const decision = decide(store, stream, expected, ids)
  if (!('accepted' in decision)) return { response: decision, store }
  const current = lastWritten(store, stream)
  const revivedByMetadata = isMetastream(stream) && isMarkedDeleted(store, originalOf(stream))
  let after = record(store, stream, events)
  const response = { ok: { revision: current + BigInt(events.length), position: after.records - 1 } }
  if (decision.accepted.softDeleted) after = revive(after, stream, current + 1n)
  if (revivedByMetadata) after = revive(after, originalOf(stream), lastWritten(after, originalOf(stream)) + 1n)
  return { response, store: after }
}

/** Sets `$tb` in the current metadata, if it is valid; after a tombstone the revision overflows. */
function revive(store: Store, stream: string, truncateBefore: bigint): Store {
  const metastream = metastreamOf(stream)
  const standing = store.streams.get(metastream)?.at(-1)
  const data = standing && withTruncateBefore(standing.data, BigInt.asIntN(64, truncateBefore))
  return data === undefined ? store : record(store, metastream, [metadataEvent(data)])
}

function metadataEvent(data: Buffer): Proposed {
  return { id: undefined, type: '$metadata', json: true, data, meta: Buffer.alloc(0) }
}

/** (`StorageWriterService.cs: WriteDelete`) A soft delete replaces the metadata of the stream. */
export function softDelete(store: Store, stream: string, expected: Expected): Written {
  const decision = decide(store, stream, expected, [undefined])
  if (!('accepted' in decision)) return { response: decision, store }
  if (lastWritten(store, stream) < 0n && lastWritten(store, metastreamOf(stream)) < 0n) {
    return { response: { wrong: { current: -1n } }, store }
  }
  const data = Buffer.from(`{"$tb":${lastPossibleRevision}}`)
  return written(record(store, metastreamOf(stream), [metadataEvent(data)]))
}

/** The tombstone of a stream, which may never have existed. */
export function tombstone(store: Store, stream: string, expected: Expected): Written {
  const decision = decide(store, stream, expected, [undefined])
  if (!('accepted' in decision)) return { response: decision, store }
  const empty = Buffer.alloc(0)
  return written(
    record(store, stream, [{ id: undefined, type: '$streamDeleted', json: false, data: empty, meta: empty }]),
  )
}

/** The reply to a deletion has a position only. */
function written(store: Store): Written {
  return { response: { ok: { revision: -1n, position: store.records - 1 } }, store }
}
