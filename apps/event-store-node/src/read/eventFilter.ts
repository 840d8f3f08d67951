// Filters on the name of the stream or the type of the event.
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { invalidArgument, unknown } from '../protocol/refusal.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'

export type EventFilter = {
  readonly matches: (event: StoredEvent) => boolean
  /** How many events are considered at a time. */
  readonly window: number
  /** A checkpoint is due after this many considered events. */
  readonly checkpointInterval: number
}

/** What the real server considers at a time when the client names no window. */
const defaultWindow = 32

/** @throws Refusal for a filter without an expression, a window of 0 or a broken regular expression */
export function eventFilterOf(options: ReadReq.Options.FilterOptions): EventFilter {
  const byStream = options.getStreamIdentifier()
  const byType = options.getEventType()
  const expression = byStream ?? byType
  if (expression === undefined) throw invalidArgument('A filter needs an expression')
  const window = options.hasMax() ? options.getMax() : defaultWindow
  const multiplier = options.getCheckpointintervalmultiplier()
  if (window === 0 || multiplier === 0) throw invalidArgument('A filter needs a window and a checkpoint interval')
  const test = textTest(expression)
  return {
    matches: byStream === undefined ? (event) => test(event.type) : (event) => test(event.stream),
    window,
    checkpointInterval: window * multiplier,
  }
}

function textTest(expression: ReadReq.Options.FilterOptions.Expression): (text: string) => boolean {
  const prefixes = expression.getPrefixList()
  if (prefixes.length > 0) return (text) => prefixes.some((prefix) => text.startsWith(prefix))
  try {
    const pattern = new RegExp(expression.getRegex())
    return (text) => pattern.test(text)
  } catch {
    throw unknown('The regular expression is malformed')
  }
}
