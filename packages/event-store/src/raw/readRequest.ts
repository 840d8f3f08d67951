// What every read asks of a server, whatever it reads, and how a stream is named.
import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogPosition } from '@paylog/domain/logPosition'

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

export const allFromEnd = (): ReadReq.Options.AllOptions => new Options.AllOptions().setEnd(new shared.Empty())

/** Prefixes only: servers differ in their regular expressions. */
export const streamsWith = (prefixes: readonly string[]) =>
  filterOptions().setStreamIdentifier(expression().setPrefixList([...prefixes]))

export const typesWith = (prefix: string) => filterOptions().setEventType(expression().setPrefixList([prefix]))

const expression = () => new Options.FilterOptions.Expression()
const filterOptions = () => new Options.FilterOptions().setMax(searchWindow)
