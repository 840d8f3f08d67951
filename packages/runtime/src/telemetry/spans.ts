// Spans of what the apps do. They cost nothing while nobody collects them.
import {
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

const name = 'paylog'

export const tracer = trace.getTracer(name)

/** Whether anybody collects spans in this process: known once the app is starting. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider && provider.getDelegateTracer(name) !== undefined
}

/** Where a recorded `traceparent` points to: what is begun in it belongs to that trace. */
export function contextOf(traceparent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent })
}

/** A failure, by a word of ours: what an error says may hold data or a secret. */
export function markFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Does something within a span of its own. The span does not learn of what is thrown: see `markFailed`. */
export async function inSpan<Result>(
  about: SpanOptions & { readonly name: string; readonly parent?: Context },
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  const { name, parent = context.active(), ...options } = about
  return await tracer.startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work(span)
    } finally {
      span.end()
    }
  })
}
