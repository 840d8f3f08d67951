// Appends events, repeating each append until its outcome is certain: the event ids make a repeated append harmless.

import { type AppendResult, type EventData, NO_STREAM } from '@eventstore/db-client'
import { type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { NIL, validate } from 'uuid'
import { pause } from '../connection/calls.ts'
import type { Connection, ConnectionContext } from '../connection/connection.ts'
import {
  appendFailure,
  leaderlessError,
  mayBeStuck,
  rejectedByStoreError,
  unconfirmedError,
  withTimeout,
} from '../connection/errors.ts'
import { boundedCall } from '../connection/waiting.ts'
import type { StreamName } from '../streamName.ts'

const tracer = trace.getTracer('paylog')

export type AppendOutcome = {
  /** Stream category, such as `payment`. */
  readonly category: string
  /** `conflict`: another writer was faster, and the command decides again. `failed` includes unknown outcomes. */
  readonly outcome: 'recorded' | 'conflict' | 'failed'
  /** Number of events in the append. */
  readonly events: number
  readonly seconds: number
}

export type AppendSpanOptions = {
  readonly category: string
  readonly events: number
  readonly metadata: EventMetadata
  readonly observe: ((end: AppendOutcome) => void) | undefined
}

/** @returns the span's position as a W3C `traceparent`; nothing when there is no span or it is not sampled */
export function traceparentOf(span: Span | undefined = trace.getActiveSpan()): string | undefined {
  if (span === undefined) return undefined
  const { traceId, spanId, traceFlags } = span.spanContext()
  return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`
}

/**
 * Runs an append in a span and reports its outcome.
 * @param run gets the event metadata, with the span's `traceparent` when it is sampled
 */
export async function withAppendSpan<Result>(
  { category, events, metadata, observe }: AppendSpanOptions,
  run: (metadata: EventMetadata) => Promise<Result | 'conflict'>,
): Promise<Result | 'conflict'> {
  const attributes = {
    'paylog.stream.category': category,
    'paylog.events': events,
    'paylog.correlation_id': metadata.correlationId,
  }
  return await tracer.startActiveSpan(`append ${category}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const start = performance.now()
    let outcome: AppendOutcome['outcome'] = 'failed'
    try {
      const traceparent = traceparentOf(span)
      const result = await run(traceparent === undefined ? metadata : { ...metadata, traceparent })
      outcome = result === 'conflict' ? 'conflict' : 'recorded'
      return result
    } finally {
      span.setAttribute('paylog.outcome', outcome)
      if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
      observe?.({ category, outcome, events, seconds: (performance.now() - start) / 1_000 })
    }
  })
}

/** A stream's last revision, or `no_stream` for a stream that does not exist. */
export type Revision = bigint | 'no_stream'

export type Append = {
  readonly stream: StreamName
  readonly expected: Revision
  readonly events: EventData[]
}

const firstPauseMs = 25
const maxPauseMs = 1_000
/** The last attempt has a chance, too. */
const shortestMs = 100
/**
 * The client sends this as a time of day by our clock, and a server whose clock is further ahead rejects every append.
 * So it is long; the timeouts of the server and of this module apply first.
 */
const deadlineMs = 3_600_000

/**
 * Maximum size of one append: the default of EventStoreDB 24.10, which counts data, metadata and twice the type. The same on
 * every server, because a log may move to another one: KurrentDB accepts 16 MB an event by default, and EventStoreDB before
 * 24.10.4, like the embedded event store, counts data alone.
 */
export const maxAppendBytes = 1 << 20

/**
 * Appends the events if the stream is at `expected`. While the outcome is unknown, the same append is repeated: the store
 * recognises the ids at that revision.
 * @returns `'conflict'` when another writer was faster and nothing was written
 * @throws DomainError `event_store_unavailable` when the outcome stayed unknown for too long, `body_too_large`; Error for
 *   an empty append, or a stream name or event id that a store cannot handle
 */
export async function appendWithRetries(
  context: ConnectionContext,
  append: Append,
): Promise<AppendResult | 'conflict'> {
  assertAppendable(append)
  if (bytesOf(append.events) > maxAppendBytes) throw tooLargeError()
  return await boundedCall(context.timing.appendRetryTimeoutMs, (giveUpAt) => repeated(context, append, giveUpAt))
}

async function repeated(
  { connection, timing, closing, outages }: ConnectionContext,
  { stream, events, expected }: Append,
  giveUpAt: number,
): Promise<AppendResult | 'conflict'> {
  const expectedRevision = expected === 'no_stream' ? NO_STREAM : expected
  const leftMs = () => Math.max(giveUpAt - performance.now(), shortestMs)
  let sent = 0
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    let open: Connection | undefined
    try {
      open = await connection.current(leftMs())
      sent++
      const appending = open.client.appendToStream(stream, events, { expectedRevision, deadline: deadlineMs })
      const timeoutMs = Math.min(timing.appendTimeoutMs, leftMs())
      const result = await withTimeout(appending, timeoutMs, `Append to ${stream}`, open.ended)
      outages?.succeeded()
      // With throwOnAppendFailure=false the client returns failures, with an invented stream revision.
      return result.success ? result : 'conflict'
    } catch (error) {
      const failure = appendFailure(error)
      if (failure === 'conflict') return 'conflict'
      // The server's limit is below ours.
      if (failure === 'too_large') throw tooLargeError(error)
      if (failure === 'unknown') connection.suspect()
      // Also when this append gives up: the next one would get no response on it either.
      if (failure !== 'rejected' && open !== undefined && mayBeStuck(error)) connection.replace(open)
      const isOver = closing.aborted || performance.now() + pauseMs > giveUpAt
      if (failure === 'rejected' || isOver) {
        if (!closing.aborted) outages?.failed(error)
        if (sent === 0) throw leaderlessError(error)
        // An earlier attempt may have been written, or may still be.
        throw sent === 1 && failure === 'rejected' ? rejectedByStoreError(error) : unconfirmedError(error)
      }
      await pause(pauseMs, closing, open?.ended)
    }
  }
}

const namePattern = /^[\x21-\x23\x25-\x7e][\x20-\x7e]*$/

/** A store would accept an empty append, and cannot name a non-ASCII stream in an error; both would be bugs of ours. */
function assertAppendable({ stream, events }: Append): void {
  if (events.length === 0) throw new Error(`Nothing to append to ${stream}`)
  if (!namePattern.test(stream)) throw new Error(`Invalid stream name: ${JSON.stringify(stream)}`)
  for (const { id } of events) {
    if (!validate(id) || id === NIL) throw new Error(`Invalid event id: ${JSON.stringify(id)}`)
  }
}

const bytesOf = (events: readonly EventData[]) =>
  events.reduce(
    (sum, { data, metadata, type }) => sum + encodedBytes(data) + encodedBytes(metadata) + 2 * type.length,
    0,
  )

function encodedBytes(value: EventData['data'] | EventData['metadata']): number {
  if (value === undefined) return 0
  return value instanceof Uint8Array ? value.length : Buffer.byteLength(JSON.stringify(value))
}

const tooLargeError = (cause?: unknown) =>
  new DomainError('body_too_large', 'The event is too large to be recorded', undefined, { cause })
