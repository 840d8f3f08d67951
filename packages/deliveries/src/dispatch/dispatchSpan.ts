// The span of what an event becomes: it goes on with the trace of whoever recorded the event.
import { SpanKind } from '@opentelemetry/api'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { traceparentOf } from '@paylog/event-store/traceparent'
import { contextOf, isTracing, tracer } from '@paylog/runtime/telemetry/spans'
import type { Outbound } from '@paylog/webhooks/outbound'

/**
 * Maps an event within a span, which the messages then belong to. An event that nobody traced when it was recorded begins
 * no trace here: what was not sampled would come back in pieces, and a long log as as many traces.
 */
export function dispatchSpan(
  { type, metadata, id }: Pick<Recorded, 'type' | 'metadata' | 'id'>,
  map: () => readonly Outbound[],
): readonly Outbound[] {
  const { traceparent, correlationId } = metadata
  if (traceparent === undefined || !isTracing()) return map()
  const startTime = Date.now()
  const messages = map()
  if (messages.length === 0) return messages
  const attributes = { 'paylog.event.type': type, 'paylog.event.id': id, 'paylog.correlation_id': correlationId }
  const deliveries = { 'paylog.deliveries': messages.length }
  const about = { kind: SpanKind.CONSUMER, startTime, attributes: { ...attributes, ...deliveries } }
  const span = tracer.startSpan(`dispatch ${type}`, about, contextOf(traceparent))
  span.end()
  return messages.map((message) => ({ ...message, traceparent: traceparentOf(span) ?? traceparent }))
}
