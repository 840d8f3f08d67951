// What every read asks of a server, whatever it reads, and how a stream is named.

import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Metadata } from '@grpc/grpc-js'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { type CallArguments, LogUnusableError, type RawClient } from './rawClient.ts'
import { metastreamOf, type RawEvent, tombstoneRevision, toRawEvent } from './rawEvent.ts'

const { Options } = streams.ReadReq

/** How many events a server looks at in one go that may all be left out. */
const searchWindow = 1_000

/** As they are recorded, links as links; what is read and from where is still to be set. */
export function readOptions(count: number, direction: 'forwards' | 'backwards'): ReadReq.Options {
  const { FORWARDS, BACKWARDS } = Options.ReadDirection
  const options = new Options()
  options.setReadDirection(direction === 'forwards' ? FORWARDS : BACKWARDS)
  options.setResolveLinks(false)
  options.setCount(String(count))
  options.setNoFilter(new shared.Empty())
  options.setUuidOption(new Options.UUIDOption().setString(new shared.Empty()))
  return options
}

export function identifierOf(stream: string): StreamIdentifier {
  const identifier = new shared.StreamIdentifier()
  identifier.setStreamName(Buffer.from(stream))
  return identifier
}

/** The log from a position; from its start without one. */
export function allFrom(from: LogPosition | undefined): ReadReq.Options.AllOptions {
  const all = new Options.AllOptions()
  if (from === undefined) return all.setStart(new shared.Empty())
  const position = new Options.Position()
  position.setCommitPosition(String(from.commit))
  position.setPreparePosition(String(from.prepare))
  return all.setPosition(position)
}

const allFromEnd = (): ReadReq.Options.AllOptions => new Options.AllOptions().setEnd(new shared.Empty())

/** Prefixes only: servers differ in their regular expressions. */
export const streamsWith = (prefixes: readonly string[]) =>
  filterOptions().setStreamIdentifier(expression().setPrefixList([...prefixes]))

const typesWith = (prefix: string) => filterOptions().setEventType(expression().setPrefixList([prefix]))

const expression = () => new Options.FilterOptions.Expression()
const filterOptions = () => new Options.FilterOptions().setMax(searchWindow)

// Reads events as their bytes, page by page, so that every call is bounded in time and in memory.

const pageEvents = 2_000
/** A page ends early when it holds so much; two pages of each log are in memory. */
const pageBytes = 8 << 20

/** What a server leaves out by itself: it can go by the beginning of a stream's name or by that of a type, not by both. */
export type RawFilter = { readonly streamPrefix: string } | { readonly typePrefix: string }

/**
 * All events of the log in order, system events too, up to where the log ends by then. `after` is not among them.
 * @param filter with one that matches little, a single call may go through the whole log before it is answered
 */
export async function* readRawLog(
  client: RawClient,
  after?: LogPosition,
  filter?: RawFilter,
): AsyncGenerator<RawEvent, void> {
  let last = after
  let next = readPage(client, last, filter)
  for (;;) {
    const page = await next
    const end = endOf(client, page, last)
    if (end !== undefined) {
      last = end
      // The next page is fetched while this one is used.
      next = readPage(client, last, filter)
      next.catch(() => {})
    }
    yield* page.events
    if (page.isLast || end === undefined) return
  }
}

/**
 * Where the next page begins.
 * @throws LogUnusableError for a page that brings nothing new and is not the last one: the log goes on behind it, unread
 */
function endOf(
  client: RawClient,
  { events, isLast }: RawPage,
  before: LogPosition | undefined,
): LogPosition | undefined {
  const end = events.at(-1)
  if (end !== undefined || isLast) return end?.position
  const place = before === undefined ? 'its start' : `position ${before.commit}`
  throw new LogUnusableError(`${client.name} gave events that are not beyond ${place}, and cannot be read further`)
}

/** The log's last event. */
export async function readLogEnd(client: RawClient): Promise<RawEvent | undefined> {
  const { events } = await readPageBackwards(client, undefined, 1)
  return events[0]
}

/** All events of the log from its end on, system events too. */
export async function* readRawLogBackwards(client: RawClient): AsyncGenerator<RawEvent, void> {
  for (let before: LogPosition | undefined; ; ) {
    const page = await readPageBackwards(client, before, pageEvents)
    yield* page.events
    before = endOf(client, page, before)
    if (page.isLast || before === undefined) return
  }
}

/** The event at exactly this position; nothing as well where the server says that there is no such position. */
export async function readEventAt(client: RawClient, position: LogPosition): Promise<RawEvent | undefined> {
  const options = readOptions(1, 'forwards')
  options.setAll(allFrom(position))
  const request = new streams.ReadReq().setOptions(options)
  const { events } = await client.call((stub, args) =>
    collectPage(stub, args, request, 1).catch((error: unknown) => {
      if (isTransient(error)) throw error
      return { events: [], isLast: true }
    }),
  )
  return events.find((event) => event.position.commit === position.commit)
}

/** Of gRPC's statuses those by which a server says nothing of the question: cancelled, too late, not to be reached, refused. */
const transientCodes = new Set([1, 4, 7, 14, 16])

const isTransient = (error: unknown) =>
  !(error instanceof Error && 'code' in error && typeof error.code === 'number') || transientCodes.has(error.code)

/**
 * Some events of a stream, as far as its metadata lets them be seen; none of one that does not exist.
 * @param from the first revision
 * @returns `'closed'` for a stream that was deleted for good
 */
export function readStreamPage(
  client: RawClient,
  stream: string,
  from: bigint,
  count: number,
): Promise<RawPage | 'closed'> {
  const one = new streams.ReadReq.Options.StreamOptions()
  one.setStreamIdentifier(identifierOf(stream))
  one.setRevision(String(from))
  const options = readOptions(count, 'forwards')
  options.setStream(one)
  const request = new streams.ReadReq().setOptions(options)
  return client.call((stub, args) =>
    collectPage(stub, args, request, count).catch((error: unknown) => {
      if (isStreamDeleted(error)) return 'closed'
      throw error
    }),
  )
}

function isStreamDeleted(error: unknown): boolean {
  const trailers = error instanceof Error && 'metadata' in error ? error.metadata : undefined
  return trailers instanceof Metadata && trailers.get('exception')[0] === 'stream-deleted'
}

/** The last metadata of a stream. */
export async function readStreamMetadata(client: RawClient, stream: string): Promise<RawEvent | undefined> {
  const one = new streams.ReadReq.Options.StreamOptions()
  one.setStreamIdentifier(identifierOf(metastreamOf(stream)))
  one.setEnd(new shared.Empty())
  const options = readOptions(1, 'backwards')
  options.setStream(one)
  const { events } = await readRequestedPage(client, options, 1)
  return events[0]
}

export type RawPage = { readonly events: readonly RawEvent[]; readonly isLast: boolean }

async function readPage(client: RawClient, after: LogPosition | undefined, filter?: RawFilter): Promise<RawPage> {
  const options = readOptions(pageEvents, 'forwards')
  options.setAll(allFrom(after))
  if (filter !== undefined) {
    options.setFilter('streamPrefix' in filter ? streamsWith([filter.streamPrefix]) : typesWith(filter.typePrefix))
  }
  const { events, isLast } = await readRequestedPage(client, options, pageEvents)
  // A read begins with the event at its position, which was there before.
  return { events: after === undefined ? events : events.filter(({ position }) => isAfter(position, after)), isLast }
}

/** @param before not among them: so reads backwards are; the log's end when left out */
function readPageBackwards(client: RawClient, before: LogPosition | undefined, count: number): Promise<RawPage> {
  const options = readOptions(count, 'backwards')
  options.setAll(before === undefined ? allFromEnd() : allFrom(before))
  return readRequestedPage(client, options, count)
}

function readRequestedPage(client: RawClient, options: ReadReq.Options, count: number): Promise<RawPage> {
  const request = new streams.ReadReq()
  request.setOptions(options)
  return client.call((stub, args) => collectPage(stub, args, request, count))
}

function collectPage(stub: StreamsClient, args: CallArguments, request: ReadReq, count: number): Promise<RawPage> {
  return new Promise((resolve, reject) => {
    const events: RawEvent[] = []
    let bytes = 0
    const call = stub.read(request, ...args)
    call.on('error', reject)
    call.on('end', () => resolve({ events, isLast: events.length < count }))
    call.on('data', (reply: ReadResp) => {
      const recorded = reply.getEvent()?.getEvent()
      if (recorded === undefined) return
      const event = toRawEvent(recorded)
      events.push(event)
      bytes += event.data.length + event.metadata.length
      // The first event may be the one that the page before ended with: a page with it alone would bring nothing new.
      if (bytes < pageBytes || events.length === 1) return
      // The promise is settled; the cancellation that follows is nobody's failure.
      resolve({ events, isLast: false })
      call.cancel()
    })
  })
}

// Why an event may have left the log: a server's scavenge takes away what its stream has let go of.

/** Whether a stream has let go of its events, and how: asked of its metadata as it is now. */
export type Retention = 'closed' | 'deleted' | 'truncated' | 'kept'

/**
 * `deleted` streams may come back, `closed` ones never. `truncated` is what lies before the beginning that a stream was
 * given, or may be beyond the number or the age that its metadata allows.
 * @throws LogUnusableError
 */
export async function readRetention(
  client: RawClient,
  { stream, revision }: Pick<RawEvent, 'stream' | 'revision'>,
): Promise<Retention> {
  if ((await readStreamPage(client, stream, 0n, 1)) === 'closed') return 'closed'
  const metadata = parseMetadata((await readStreamMetadata(client, stream))?.data)
  // The largest number of a server is none that JavaScript can hold; the one next to it says the same here.
  const truncateBefore = numberOf(metadata, '$tb')
  if (truncateBefore >= Number(tombstoneRevision)) return 'deleted'
  const isLimited = numberOf(metadata, '$maxCount') > 0 || numberOf(metadata, '$maxAge') > 0
  return Number(revision) < truncateBefore || isLimited ? 'truncated' : 'kept'
}

function parseMetadata(data: Uint8Array | undefined): unknown {
  try {
    return data && JSON.parse(Buffer.from(data).toString())
  } catch {
    // Metadata that is not JSON is no metadata.
    return undefined
  }
}

function numberOf(metadata: unknown, name: string): number {
  const value: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, name) : undefined
  return typeof value === 'number' ? value : 0
}
