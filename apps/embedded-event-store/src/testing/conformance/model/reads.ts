// The results of the model's reads, with links resolved.
import { isSoftDeleted, lastPossibleRevision, lastRevision, metadataOf, type Recorded, type Store } from './store.ts'

export type Direction = 'forwards' | 'backwards'

/** An event, a link with its target, or a link alone whose target cannot be read. */
export type Found = { readonly event: Recorded | undefined; readonly link?: Recorded }

export type Filter = {
  readonly by: 'stream' | 'type'
  /** `{P}` stands for the prefix of a run's streams. */
  readonly prefix?: readonly string[]
  readonly regex?: string
}

export type StreamRead = {
  readonly stream: string
  readonly direction: Direction
  readonly from: 'start' | 'end' | bigint
  readonly count: number
  readonly links: boolean
}

export type LogRead = {
  readonly direction: Direction
  /** A position is given by its record. */
  readonly from: 'start' | 'end' | number
  readonly count: number
  readonly links: boolean
  readonly filter: Filter | undefined
}

export type ReadResponse =
  | { readonly found: readonly Found[] }
  | { readonly rejected: 'not found' | 'deleted' | 'unknown' }

/** (`ReaderIndex/IndexReader.cs`) */
export function readStream(store: Store, read: StreamRead): ReadResponse {
  const { stream, direction, from, count } = read
  if (count === 0 || (direction === 'forwards' && from === 'end')) return { rejected: 'unknown' }
  const last = lastRevision(store, stream)
  if (last === lastPossibleRevision) return { rejected: 'deleted' }
  if (last < 0n || isSoftDeleted(store, stream)) return { rejected: 'not found' }
  const readable = readableEvents(store, stream)
  const start = from === 'start' ? 0n : from
  const events =
    direction === 'forwards'
      ? readable.filter((event) => start !== 'end' && event.revision >= start)
      : readable.filter((event) => start === 'end' || event.revision <= start).reverse()
  return { found: events.slice(0, count).map((event) => (read.links ? resolved(store, event) : { event })) }
}

/** The events of an existing stream that its metadata does not hide. */
function readableEvents(store: Store, stream: string): Recorded[] {
  const { maxCount, maxAgeSeconds, truncateBefore } = metadataOf(store, stream)
  const bound = maxCount === undefined ? 0n : lastRevision(store, stream) - maxCount + 1n
  return (store.streams.get(stream) ?? []).filter(({ revision, createdMs }) => {
    const young = maxAgeSeconds === undefined || BigInt(store.nowMs - createdMs) <= maxAgeSeconds * 1000n
    return young && revision >= bound && revision >= (truncateBefore ?? 0n)
  })
}

/** One event by its revision, -1 being the last; undefined when readers cannot see it. */
export function readableEvent(store: Store, stream: string, revision: bigint): Recorded | undefined {
  const last = lastRevision(store, stream)
  if (last === lastPossibleRevision || last < 0n || isSoftDeleted(store, stream)) return undefined
  const wanted = revision === -1n ? last : revision
  return readableEvents(store, stream).find((event) => event.revision === wanted)
}

/** (`AllReader.cs`) A forwards read includes its position, a backwards read does not. */
export function readLog(store: Store, read: LogRead): ReadResponse {
  const { direction, from, filter } = read
  const events =
    direction === 'forwards'
      ? store.log.filter(({ position }) => from === 'start' || (from !== 'end' && position >= from))
      : store.log.filter(({ position }) => from === 'end' || (from !== 'start' && position < from)).reverse()
  const found = events.filter((event) => filter === undefined || matches(filter, event)).slice(0, read.count)
  return { found: found.map((event) => (read.links ? resolved(store, event) : { event })) }
}

const numberPattern = /^\s*[+-]?\d+\s*$/

/** (`StorageReaderWorker.cs: ResolveLinkToEvent`) Data that does not start with a number is not a link. */
export function resolved(store: Store, event: Recorded): Found {
  if (event.type !== '$>') return { event }
  return numberPattern.test(targetOf(event).revision) ? resolvedLink(store, event) : { event }
}

/** (`SubscriptionsService.cs: ResolveLinkToEvent`) In a live subscription, it is a link without a target. */
export function resolvedLive(store: Store, event: Recorded): Found {
  return event.type === '$>' ? resolvedLink(store, event) : { event }
}

function resolvedLink(store: Store, link: Recorded): Found {
  const { revision, stream } = targetOf(link)
  if (!numberPattern.test(revision) || stream === '') return { event: undefined, link }
  return { event: readableEvent(store, stream, BigInt(revision.trim())), link }
}

function targetOf(link: Recorded): { readonly revision: string; readonly stream: string } {
  const text = link.data.toString('utf8')
  const at = text.indexOf('@')
  return at < 0 ? { revision: text, stream: '' } : { revision: text.slice(0, at), stream: text.slice(at + 1) }
}

export function matches(filter: Filter, event: Recorded): boolean {
  const text = filter.by === 'type' ? event.type : nameInRun(event.stream)
  if (filter.regex !== undefined) return new RegExp(filter.regex.replaceAll('{P}', '<P>')).test(text)
  return (filter.prefix ?? []).some((prefix) => text.startsWith(prefix.replaceAll('{P}', '<P>')))
}

/** On the server, the name of a stream of the model has the run's prefix after the `$$`s. */
function nameInRun(stream: string): string {
  return stream.replace(/^(\$\$)*/, '$&<P>')
}
