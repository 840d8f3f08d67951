// The log as readers see it, with truncation, deletion and links applied.
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
  /** The events as encoded messages, in order, with links resolved on request. */
  messages(events: readonly StoredEvent[], form: Form): Promise<readonly Buffer[]> | readonly Buffer[]
}

export type Form = {
  readonly resolveLinks: boolean
  readonly idFormat: IdFormat
  /** In live subscriptions, EventStoreDB treats invalid link data as a broken link; in reads, as a normal event. */
  readonly live?: boolean
}

/** @param options `knownHead` saves a query for streams in the writer's cache */
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

  const resolve = async (events: readonly StoredEvent[], { idFormat, live }: Form): Promise<Buffer[]> => {
    const links = new Map(events.map((event) => [event, isLink(event) ? linkOf(event) : undefined]))
    const targets = await readTargets([...links.values()].filter((link) => link !== undefined))
    return events.map((event) => {
      const link = links.get(event)
      if (link !== undefined) return resolvedLinkMessage(event, targets.get(keyOf(link)), idFormat)
      return live && isLink(event) ? resolvedLinkMessage(event, undefined, idFormat) : eventMessage(event, idFormat)
    })
  }

  /** The readable targets of links, by link key. */
  const readTargets = async (links: readonly Link[]): Promise<Map<string, StoredEvent>> => {
    const named = links.filter((link) => link.stream !== '')
    if (named.length === 0) return new Map()
    const viewOf = await views([...new Set(named.map((link) => link.stream))])
    const places = named.map((link) => ({ ...link, revision: revisionIn(link, viewOf.get(link.stream)) }))
    const found = new Map((await readEventsAt(db, places)).map((event) => [keyOf(event), event]))
    const nowTicks = ticksNow()
    return new Map(
      named.flatMap((link, index) => {
        const place = places[index]
        const event = place && found.get(keyOf(place))
        const view = viewOf.get(link.stream)
        return event && view && isReadable(event, view, nowTicks) ? [[keyOf(link), event]] : []
      }),
    )
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
      if (form.resolveLinks && events.some(isLink)) return resolve(events, form)
      return events.map((event) => eventMessage(event, form.idFormat))
    },
  }
}

function isLink(event: StoredEvent): boolean {
  return event.type === '$>'
}

type Link = { readonly stream: string; readonly revision: bigint }

function keyOf({ stream, revision }: Link): string {
  return `${revision}@${stream}`
}

const lastOfItsStream = -1n

/**
 * The target of a link. Undefined when its data does not start with a number, which makes it a normal event; an empty
 * stream name, which matches nothing, when the rest is missing.
 */
function linkOf(event: StoredEvent): Link | undefined {
  const text = event.data.toString('utf8')
  const separator = text.indexOf('@')
  const number = (separator < 0 ? text : text.slice(0, separator)).trim()
  if (!/^[+-]?\d+$/.test(number)) return undefined
  const revision = BigInt(number.replace('+', ''))
  if (BigInt.asIntN(64, revision) !== revision) return undefined
  const stream = separator < 0 ? '' : text.slice(separator + 1)
  return revision < lastOfItsStream || stream.includes('\0') ? { stream: '', revision } : { stream, revision }
}

function revisionIn(link: Link, view: StreamView | undefined): bigint {
  return link.revision === lastOfItsStream ? (view?.last ?? link.revision) : link.revision
}

function isReadable(event: StoredEvent, view: StreamView, nowTicks: bigint): boolean {
  if (view.tombstoned) return false
  return event.revision >= firstReadable(view) && event.createdTicks >= oldestReadableTicks(view, nowTicks)
}
