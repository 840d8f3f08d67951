// Reads raw events page by page, so that every call is bounded in time and memory.

import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Metadata } from '@grpc/grpc-js'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { type CallArguments, LogUnusableError, type RawClient } from './rawClient.ts'
import { metastreamOf, type RawEvent, tombstoneRevision, toRawEvent } from './rawEvent.ts'

const { Options } = streams.ReadReq

/** How many events a server scans at once when none matches the filter. */
const searchWindow = 1_000

/** Options of every read; the caller adds the stream or log and the position. Links are not resolved. */
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

/** The log from a position, or from its start. */
export function allFrom(from: LogPosition | undefined): ReadReq.Options.AllOptions {
  const all = new Options.AllOptions()
  if (from === undefined) return all.setStart(new shared.Empty())
  const position = new Options.Position()
  position.setCommitPosition(String(from.commit))
  position.setPreparePosition(String(from.prepare))
  return all.setPosition(position)
}

const allFromEnd = (): ReadReq.Options.AllOptions => new Options.AllOptions().setEnd(new shared.Empty())

/** Uses prefixes, because servers differ in their regular expressions. */
export const streamsWith = (prefixes: readonly string[]) =>
  filterOptions().setStreamIdentifier(expression().setPrefixList([...prefixes]))

const typesWith = (prefix: string) => filterOptions().setEventType(expression().setPrefixList([prefix]))

const expression = () => new Options.FilterOptions.Expression()
const filterOptions = () => new Options.FilterOptions().setMax(searchWindow)

const pageEvents = 2_000
/** A page ends early at this size; two pages of each log are in memory. */
const pageBytes = 8 << 20

/** Filter on the server, which supports either stream prefixes or type prefixes. */
export type RawFilter = { readonly streamPrefix: string } | { readonly typePrefix: string }

/**
 * All events of the log in order, system events included, up to the end of the log. `after` itself is excluded.
 * @param filter if it matches few events, a single call may scan the whole log before it returns
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
      // Fetches the next page while this one is processed.
      next = readPage(client, last, filter)
      next.catch(() => {})
    }
    yield* page.events
    if (page.isLast || end === undefined) return
  }
}

/**
 * Where the next page starts.
 * @throws LogUnusableError for a page without new events that is not the last one: the rest of the log would stay unread
 */
function endOf(
  client: RawClient,
  { events, isLast }: RawPage,
  before: LogPosition | undefined,
): LogPosition | undefined {
  const end = events.at(-1)
  if (end !== undefined || isLast) return end?.position
  const place = before === undefined ? 'its start' : `position ${before.commit}`
  throw new LogUnusableError(`${client.name} returned no events after ${place}, so the rest of it cannot be read`)
}

/** The log's last event. */
export async function readLogEnd(client: RawClient): Promise<RawEvent | undefined> {
  const { events } = await readPageBackwards(client, undefined, 1)
  return events[0]
}

/** All events of the log in reverse order, system events included. */
export async function* readRawLogBackwards(client: RawClient): AsyncGenerator<RawEvent, void> {
  for (let before: LogPosition | undefined; ; ) {
    const page = await readPageBackwards(client, before, pageEvents)
    yield* page.events
    before = endOf(client, page, before)
    if (page.isLast || before === undefined) return
  }
}

/** The event at exactly this position; nothing when there is none, or when the server rejects the position. */
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

/** CANCELLED, DEADLINE_EXCEEDED, PERMISSION_DENIED, UNAVAILABLE, UNAUTHENTICATED: unrelated to the position. */
const transientCodes = new Set([1, 4, 7, 14, 16])

const isTransient = (error: unknown) =>
  !(error instanceof Error && 'code' in error && typeof error.code === 'number') || transientCodes.has(error.code)

/**
 * Some events of a stream, without those hidden by its metadata; none for a stream that does not exist.
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

/** The latest metadata event of a stream. */
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
  // A read starts with the event at its position, which the previous page ended with.
  return { events: after === undefined ? events : events.filter(({ position }) => isAfter(position, after)), isLast }
}

/** @param before excluded, as in every backwards read; the log's end when undefined */
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
      // The first event may be the last one of the previous page, so a page needs at least two.
      if (bytes < pageBytes || events.length === 1) return
      // The promise is settled, so the error of the cancelled call is ignored.
      resolve({ events, isLast: false })
      call.cancel()
    })
  })
}

/** Why a scavenge may have removed events of a stream, according to its current metadata. */
export type Retention = 'closed' | 'deleted' | 'truncated' | 'kept'

/**
 * `deleted` streams may come back, `closed` ones (with a tombstone) never. `truncated` events lie before the stream's
 * `$tb`, or may exceed its `$maxCount` or `$maxAge`.
 * @throws LogUnusableError
 */
export async function readRetention(
  client: RawClient,
  { stream, revision }: Pick<RawEvent, 'stream' | 'revision'>,
): Promise<Retention> {
  if ((await readStreamPage(client, stream, 0n, 1)) === 'closed') return 'closed'
  const metadata = parseMetadata((await readStreamMetadata(client, stream))?.data)
  // 2^63-1 is not exact in JavaScript; the nearest number serves here.
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
