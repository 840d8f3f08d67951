// Read requests of EventStoreDB's gRPC protocol.
import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogPosition } from '@paylog/domain/events'
import { isSystemStream } from './rawEvent.ts'

const { Options } = streams.ReadReq

/** How many events a server scans at once when none matches the filter. */
const searchWindow = 1_000

/** The server filters by prefixes only, because servers differ in their regular expressions. */
export type ServerFilter = { readonly streamPrefixes: readonly string[] } | { readonly typePrefix: string }

/** `own`: the events of all streams but the server's, which are filtered here. */
export type LogFilter = ServerFilter | 'own'

/** Whether an event passes the filter. System events pass only without one. */
export function passes(filter: LogFilter | undefined, { stream, type }: { stream: string; type: string }): boolean {
  if (filter === undefined) return true
  if (filter === 'own') return !isSystemStream(stream)
  if ('typePrefix' in filter) return type.startsWith(filter.typePrefix)
  return filter.streamPrefixes.some((prefix) => stream.startsWith(prefix))
}

/** Where a read starts. A forwards read includes that event, a backwards read does not. */
export type ReadStart = LogPosition | 'start' | 'end'

/** @param count of events */
export function logRead(
  from: ReadStart,
  count: number,
  { filter, backwards = false }: { readonly filter?: ServerFilter | undefined; readonly backwards?: boolean } = {},
): ReadReq {
  const options = readOptions(backwards).setAll(allFrom(from)).setCount(String(count))
  if (filter !== undefined) options.setFilter(filterOptions(filter))
  return new streams.ReadReq().setOptions(options)
}

/** All events that are recorded from now on. */
export function newEvents(): ReadReq {
  const options = readOptions(false).setAll(allFrom('end')).setSubscription(new Options.SubscriptionOptions())
  return new streams.ReadReq().setOptions(options)
}

/** @param from a revision, which is included also in a backwards read */
export function streamRead(stream: string, from: bigint | 'end', count: number, backwards = false): ReadReq {
  const one = new Options.StreamOptions().setStreamIdentifier(identifierOf(stream))
  if (from === 'end') one.setEnd(new shared.Empty())
  else one.setRevision(String(from))
  return new streams.ReadReq().setOptions(readOptions(backwards).setStream(one).setCount(String(count)))
}

export function identifierOf(stream: string): StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
}

/** Links are not resolved. */
function readOptions(backwards: boolean): ReadReq.Options {
  const { FORWARDS, BACKWARDS } = Options.ReadDirection
  return new Options()
    .setReadDirection(backwards ? BACKWARDS : FORWARDS)
    .setResolveLinks(false)
    .setNoFilter(new shared.Empty())
    .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()))
}

function allFrom(from: ReadStart): ReadReq.Options.AllOptions {
  const all = new Options.AllOptions()
  if (from === 'start') return all.setStart(new shared.Empty())
  if (from === 'end') return all.setEnd(new shared.Empty())
  const position = new Options.Position()
  position.setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare))
  return all.setPosition(position)
}

function filterOptions(filter: ServerFilter): ReadReq.Options.FilterOptions {
  const options = new Options.FilterOptions().setMax(searchWindow)
  const expression = new Options.FilterOptions.Expression()
  return 'typePrefix' in filter
    ? options.setEventType(expression.setPrefixList([filter.typePrefix]))
    : options.setStreamIdentifier(expression.setPrefixList([...filter.streamPrefixes]))
}
