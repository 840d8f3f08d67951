// The span of one attempt of a delivery: it goes on with the trace of the request that led to it, hours later as well.
import { type Span, SpanKind } from '@opentelemetry/api'
import { contextOf, inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { AttemptRef } from '../tables/deliveries.ts'
import type { DueDelivery } from '../tables/dueDelivery.ts'
import type { PostResult } from './postWebhook.ts'

/** Never tells the URL: it may hold a secret. What nobody traces has no span here either. */
export async function inAttemptSpan<Result>(
  { node, ref, due }: { readonly node: string; readonly ref: AttemptRef; readonly due: DueDelivery },
  attempt: (ended: (post: PostResult) => void) => Promise<Result>,
): Promise<Result> {
  const { traceparent, event, correlation_id } = due
  if (traceparent === null) return await attempt(() => undefined)
  const attributes = {
    'http.request.method': 'POST',
    'paylog.webhook.node': node,
    'paylog.webhook.event': event,
    'paylog.delivery.id': ref.deliveryId,
    'paylog.delivery.attempt': ref.attempt,
    'paylog.correlation_id': correlation_id,
  }
  return await inSpan(
    { name: `deliver to ${node}`, kind: SpanKind.CLIENT, attributes, parent: contextOf(traceparent) },
    (span) => attempt((post) => recordResult(span, post)),
  )
}

function recordResult(span: Span, { httpStatus, error }: PostResult): void {
  if (httpStatus !== null) span.setAttribute('http.response.status_code', httpStatus)
  if (error !== null) markFailed(span, error)
}
