// The log as readers see it: truncation, deletion and links applied.
import { eventMessage, type IdFormat, resolvedLinkMessage } from '../protocol/eventMessage.ts'
import {
  type Page,
  type Queryable,
  readAllBackwards,
  readAllForwards,
  readEventsAt,
  readHeads,
  readStreamBackwards,
  readStreamForwards,
  type StreamRange,
} from '../storage/logReader.ts'
import { type StoredEvent, ticksNow } from '../storage/storedEvent.ts'
import {
  absentHead,
  firstReadable,
  headsNeeded,
  oldestReadableTicks,
  type StreamHead,
  type StreamView,
  viewOf,
} from '../storage/streamHead.ts'

export type Log = {
  allForwards(from: bigint, limit: number): Promise<Page>
  allBackwards(before: bigint, limit: number): Promise<Page>
  streamForwards(range: StreamRange, limit: number): Promise<Page>
  streamBackwards(range: StreamRange, limit: number): Promise<Page>
  view(stream: string): Promise<StreamView>
  /** The events as messages, in order, links resolved when asked for. */
  messages(events: readonly StoredEvent[], form: Form): Promise<readonly Buffer[]> | readonly Buffer[]
}

export type Form = { readonly resolveLinks: boolean; readonly idFormat: IdFormat }

/** @param options `knownHead` saves the query for a stream that the writer knows */
export function createLog(options: {
  readonly db: Queryable
  readonly knownHead: (stream: string) => StreamHead | undefined
}): Log {
  const { db } = options

  const views = async (streams: readonly string[]): Promise<Map<string, StreamView>> => {
    const heads = new Map<string, StreamHead>()
    const missing: string[] = []
    for (const stream of new Set(streams.flatMap((stream) => headsNeeded(stream)))) {
      const known = options.knownHead(stream)
      if (known === undefined) missing.push(stream)
      else heads.set(stream, known)
    }
    if (missing.length > 0) for (const [stream, head] of await readHeads(db, missing)) heads.set(stream, head)
    const headOf = (stream: string) => heads.get(stream) ?? absentHead
    return new Map(streams.map((stream) => [stream, viewOf(stream, headOf)]))
  }

  const resolve = async (events: readonly StoredEvent[], idFormat: IdFormat): Promise<Buffer[]> => {
    const targets = await readTargets(events)
    return events.map((event) => {
      const place = linkTarget(event)
      if (place === undefined) return eventMessage(event, idFormat)
      return resolvedLinkMessage(event, targets.get(`${place.revision}@${place.stream}`), idFormat)
    })
  }

  const readTargets = async (events: readonly StoredEvent[]): Promise<Map<string, StoredEvent>> => {
    const places = events.flatMap((event) => linkTarget(event) ?? [])
    if (places.length === 0) return new Map()
    const [found, viewByStream] = await Promise.all([
      readEventsAt(db, places),
      views([...new Set(places.map((place) => place.stream))]),
    ])
    const nowTicks = ticksNow()
    const readable = found.filter((event) => {
      const view = viewByStream.get(event.stream)
      return view !== undefined && isReadable(event, view, nowTicks)
    })
    return new Map(readable.map((event) => [`${event.revision}@${event.stream}`, event]))
  }

  return {
    allForwards: (from, limit) => readAllForwards(db, from, limit),
    allBackwards: (before, limit) => readAllBackwards(db, before, limit),
    streamForwards: (range, limit) => readStreamForwards(db, range, limit),
    streamBackwards: (range, limit) => readStreamBackwards(db, range, limit),
    async view(stream) {
      const view = (await views([stream])).get(stream)
      if (view === undefined) throw new Error(`No view of the stream ${stream}`)
      return view
    },
    messages(events, form) {
      if (form.resolveLinks && events.some(isLink)) return resolve(events, form.idFormat)
      return events.map((event) => eventMessage(event, form.idFormat))
    },
  }
}

function isLink(event: StoredEvent): boolean {
  return event.type === '$>'
}

/** Where a link points to; undefined for an event that is no link or whose data is not one. */
function linkTarget(event: StoredEvent): { stream: string; revision: bigint } | undefined {
  if (!isLink(event)) return undefined
  const match = /^(\d{1,18})@(.+)$/s.exec(event.data.toString('utf8'))
  const [, revision, stream] = match ?? []
  if (revision === undefined || stream === undefined || stream.includes('\0')) return undefined
  return { stream, revision: BigInt(revision) }
}

function isReadable(event: StoredEvent, view: StreamView, nowTicks: bigint): boolean {
  if (view.tombstoned) return false
  return event.revision >= firstReadable(view) && event.createdTicks >= oldestReadableTicks(view, nowTicks)
}
