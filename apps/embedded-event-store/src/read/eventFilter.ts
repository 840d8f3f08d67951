// Filters on the name of the stream or the type of the event.
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { invalidArgument } from '../protocol/callError.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'
import { patternTest, prefixTest, type TextTest } from './textTest.ts'

export type EventFilter = {
  readonly matches: (event: StoredEvent) => boolean
  /** How many events are considered at a time. */
  readonly window: number
  /** A checkpoint is due after this many considered events. */
  readonly checkpointInterval: number
}

/** What the real server considers at a time when the client names no window. */
const defaultWindow = 32

/**
 * @throws Refusal for a filter without an expression or a window, or a broken regular expression; `matches` may throw
 *   one when a regular expression takes too long
 */
export function eventFilterOf(options: ReadReq.Options.FilterOptions): EventFilter {
  const byStream = options.getStreamIdentifier()
  const byType = options.getEventType()
  const expression = byStream ?? byType
  if (expression === undefined) throw invalidArgument('A filter needs an expression')
  const test = textTest(expression)
  if (!options.hasMax() && !options.hasCount()) throw invalidArgument('A filter needs a window')
  const window = options.hasMax() ? options.getMax() : defaultWindow
  if (window === 0) throw invalidArgument('A filter needs a window')
  const matches = byStream === undefined ? typeMatches(test) : streamMatches(test)
  return {
    matches: (event) => !isHidden(event.stream) && matches(event),
    window,
    checkpointInterval: window * options.getCheckpointintervalmultiplier(),
  }
}

function typeMatches(test: TextTest): (event: StoredEvent) => boolean {
  return (event) => test(event.type)
}

function streamMatches(test: TextTest): (event: StoredEvent) => boolean {
  return (event) => test(event.stream)
}

/** A regular expression goes before prefixes; neither matches nothing. */
function textTest(expression: ReadReq.Options.FilterOptions.Expression): TextTest {
  const pattern = expression.getRegex()
  return pattern === '' ? prefixTest(expression.getPrefixList()) : patternTest(pattern)
}

/** Streams of the real server's own that a read of the whole log leaves out, as does every subscription to it. */
export function isHidden(stream: string): boolean {
  if (!stream.startsWith('$')) return false
  if (stream === '$epoch-information') return true
  const ofAll = /^\$persistentsubscription-\$all::.*-(?:checkpoint|parked)$/s
  return ofAll.test(stream)
}
