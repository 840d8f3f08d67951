// What is told of an append: its span, which what is appended tells of too, and how it ended.
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { EventMetadata } from '@paylog/domain/messages'
import { traceparentOf } from '../traceparent.ts'

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
