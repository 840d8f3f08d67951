// Filters by stream name or event type.
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { invalidArgument } from '../protocol/callError.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'
import { patternTest, prefixTest, type TextTest } from './textTest.ts'

export type EventFilter = {
  readonly matches: (event: StoredEvent) => boolean
  /** How many events are scanned at a time. */
  readonly window: number
  /** A checkpoint is due after this many scanned events. */
  readonly checkpointInterval: number
}

/** EventStoreDB's window for clients that send none. */
const defaultWindow = 32

/**
 * @throws CallError for a filter without an expression or a window, or an invalid regular expression; `matches` throws one
 *   when a regular expression takes too long
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

/** A regular expression takes precedence over prefixes; without either, nothing matches. */
function textTest(expression: ReadReq.Options.FilterOptions.Expression): TextTest {
  const pattern = expression.getRegex()
  return pattern === '' ? prefixTest(expression.getPrefixList()) : patternTest(pattern)
}

/** Internal streams of EventStoreDB that reads of and subscriptions to the whole log leave out. */
export function isHidden(stream: string): boolean {
  if (!stream.startsWith('$')) return false
  if (stream === '$epoch-information') return true
  const ofAll = /^\$persistentsubscription-\$all::.*-(?:checkpoint|parked)$/s
  return ofAll.test(stream)
}
