// The place of a span as W3C Trace Context writes it, for what goes on elsewhere and later.
import { type Span, TraceFlags, trace } from '@opentelemetry/api'

/** @returns nothing when there is no span, or nobody is to see it: then nothing that follows needs to know of it */
export function traceparentOf(span: Span | undefined = trace.getActiveSpan()): string | undefined {
  if (span === undefined) return undefined
  const { traceId, spanId, traceFlags } = span.spanContext()
  return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`
}
