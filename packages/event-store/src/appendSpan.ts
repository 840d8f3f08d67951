// The span of an append, and how what is appended tells of it.
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { EventMetadata } from '@paylog/domain/messages'
import { traceparentOf } from './traceparent.ts'

const tracer = trace.getTracer('paylog')

export type Appending = {
  readonly category: string
  readonly events: number
  readonly metadata: EventMetadata
}

/**
 * Appends within a span, of which the metadata of the events tell whenever somebody collects it.
 * @param run gets these metadata
 */
export async function inAppendSpan<Answer>(
  { category, events, metadata }: Appending,
  run: (metadata: EventMetadata) => Promise<Answer | 'conflict'>,
): Promise<Answer | 'conflict'> {
  const attributes = {
    'paylog.stream.category': category,
    'paylog.events': events,
    'paylog.correlation_id': metadata.correlationId,
  }
  return await tracer.startActiveSpan(`append ${category}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    let outcome = 'failed'
    try {
      const traceparent = traceparentOf(span)
      const answer = await run(traceparent === undefined ? metadata : { ...metadata, traceparent })
      outcome = answer === 'conflict' ? 'conflict' : 'recorded'
      return answer
    } finally {
      span.setAttribute('paylog.outcome', outcome)
      if (outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    }
  })
}
