// The place of a span as W3C Trace Context writes it, for what goes on elsewhere and later.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AppendResult, type EventData, NO_STREAM } from '@eventstore/db-client'
import { type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { NIL, validate } from 'uuid'
import type { ConnectionContext } from '../connection/connection.ts'
import { appendFailure, mayBeStuck, rejectedByStoreError, unconfirmedError, withTimeout } from '../connection/errors.ts'
import type { StreamName } from '../streamName.ts'

/** @returns nothing when there is no span, or nobody is to see it: then nothing that follows needs to know of it */
export function traceparentOf(span: Span | undefined = trace.getActiveSpan()): string | undefined {
  if (span === undefined) return undefined
  const { traceId, spanId, traceFlags } = span.spanContext()
  return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`
}

// What is told of an append: its span, which what is appended tells of too, and how it ended.

const tracer = trace.getTracer('paylog')

export type AppendOutcome = {
  /** Of the stream: `payment`. */
  readonly category: string
  /** `recorded`, `conflict` (another writer was faster; the decision is made again), or `failed`, also when nobody knows. */
  readonly outcome: 'recorded' | 'conflict' | 'failed'
  /** How many events it was about. */
  readonly events: number
  readonly seconds: number
}

export type AppendSpanOptions = {
  readonly category: string
  readonly events: number
  readonly metadata: EventMetadata
  /** Is told how it ended. */
  readonly observe: ((end: AppendOutcome) => void) | undefined
}

/**
 * Appends within a span, of which the metadata of the events tell whenever somebody collects it.
 * @param run gets these metadata
 */
export async function withAppendSpan<Answer>(
  { category, events, metadata, observe }: AppendSpanOptions,
  run: (metadata: EventMetadata) => Promise<Answer | 'conflict'>,
): Promise<Answer | 'conflict'> {
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

// Appending until the answer is clear: the ids make a repeated append harmless.

/** A stream's last revision, or that there is none. */
export type Revision = bigint | 'no_stream'

export type Append = {
  readonly stream: StreamName
  readonly expected: Revision
  readonly events: EventData[]
}

const firstPauseMs = 25
const maxPauseMs = 1_000
/**
 * Sent to the server as a time of day by our clock, and every append is refused when its clock is further ahead than
 * that. The server has a limit of its own, and so have we.
 */
const deadlineMs = 3_600_000

/**
 * Appends the events if the stream is at `expected`. When nobody knows whether they were written, the same append is
 * made again: the store recognises the ids at that revision.
 * @returns `'conflict'` when another writer was faster and nothing was written
 * @throws DomainError `event_store_unavailable` when there was no clear answer for too long, `body_too_large`; Error when
 *   there is nothing to append or a name or id that a store would choke on
 */
export async function appendWithRetries(
  context: ConnectionContext,
  append: Append,
): Promise<AppendResult | 'conflict'> {
  assertAppendable(append)
  const { connection, timing, closing } = context
  const { stream, events } = append
  const expectedRevision = append.expected === 'no_stream' ? NO_STREAM : append.expected
  const giveUpAt = Date.now() + timing.appendRetryTimeoutMs
  let isFirst = true
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const client = connection.current()
    try {
      const appending = client.appendToStream(stream, events, { expectedRevision, deadline: deadlineMs })
      const result = await withTimeout(appending, timing.appendTimeoutMs, `Append to ${stream}`, closing)
      // A connection string may ask the client not to throw; what it says then of the stream is made up.
      return result.success ? result : 'conflict'
    } catch (error) {
      const failure = appendFailure(error)
      if (failure === 'conflict') return 'conflict'
      if (failure === 'too_large')
        throw new DomainError('body_too_large', 'This is too large to be recorded', undefined, { cause: error })
      // An earlier attempt may have been written, or may be yet.
      if (failure === 'refused') throw isFirst ? rejectedByStoreError(error) : unconfirmedError(error)
      if (closing.aborted || Date.now() + pauseMs > giveUpAt) throw unconfirmedError(error)
      isFirst = false
      if (mayBeStuck(error)) connection.replace(client)
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {})
    }
  }
}

const namePattern = /^[\x21-\x23\x25-\x7e][\x20-\x7e]*$/

/** An empty append would be accepted, and a name beyond ASCII cannot be put into a refusal: neither is ever meant. */
function assertAppendable({ stream, events }: Append): void {
  if (events.length === 0) throw new Error(`Nothing to append to ${stream}`)
  if (!namePattern.test(stream)) throw new Error(`A stream cannot have the name ${JSON.stringify(stream)}`)
  for (const { id } of events) {
    if (!validate(id) || id === NIL) throw new Error(`An event cannot have the id ${JSON.stringify(id)}`)
  }
}
