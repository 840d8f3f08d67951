// Trace spans, and a span per HTTP request. They cost nothing unless tracing is enabled.
import {
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const name = 'paylog'

export const tracer = trace.getTracer(name)

/** Whether tracing is enabled in this process; known once the app starts. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider && provider.getDelegateTracer(name) !== undefined
}

/** The context of a recorded `traceparent`: spans started in it belong to that trace. */
export function contextOf(traceparent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent })
}

/** @param errorType one of our codes, never an error message, which may hold data or a secret */
export function markFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Runs work in a new span. Errors are not recorded in the span: see `markFailed`. */
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

type TracedRequest = { readonly span: Span; readonly active: Context }

/**
 * Starts a trace for every request, by OpenTelemetry's conventions for HTTP, and keeps its span active until the response
 * is sent. Must be called before any other hook.
 *
 * The `traceparent` of a request is ignored, because clients are untrusted: they could have all their requests sampled,
 * write into traces of others, or put everything into one trace. A span has the route's pattern and never the URL, which
 * may contain a credential or personal data.
 */
export function traceRequests(http: FastifyInstance): void {
  if (!isTracing()) return
  const traced = new WeakMap<FastifyRequest, TracedRequest>()
  // Fastify keeps the active context while it reads the body, but not for the response.
  const runInContext = (request: FastifyRequest, done: () => void) => {
    const active = traced.get(request)?.active
    if (active) context.with(active, done)
    else done()
  }
  http.addHook('onRequest', (request, reply, done) => {
    if (isForOperators(request.routeOptions.url)) return done()
    const span = startRequestSpan(request)
    traced.set(request, { span, active: trace.setSpan(ROOT_CONTEXT, span) })
    // `close` comes after the response, or instead of it.
    reply.raw.once('close', () => {
      endRequestSpan(span, request, reply.raw)
      traced.delete(request)
    })
    runInContext(request, done)
  })
  http.addHook('onResponse', (request, _reply, done) => runInContext(request, done))
}

/** Health checks and scrapes are frequent and not worth a trace. */
const isForOperators = (route = '') => route === '/metrics' || route.startsWith('/health/')

function startRequestSpan({ id, method, protocol, routeOptions, raw }: FastifyRequest): Span {
  const { url: route } = routeOptions
  return tracer.startSpan(route === undefined ? method : `${method} ${route}`, {
    kind: SpanKind.SERVER,
    root: true,
    attributes: {
      'http.request.method': method,
      'url.scheme': protocol,
      'network.protocol.version': raw.httpVersion,
      'paylog.correlation_id': id,
      ...(route !== undefined && { 'http.route': route }),
    },
  })
}

function endRequestSpan(
  span: Span,
  { errorCode }: FastifyRequest,
  { statusCode, writableFinished }: { readonly statusCode: number; readonly writableFinished: boolean },
): void {
  if (writableFinished) {
    span.setAttribute('http.response.status_code', statusCode)
    // A 4xx is not a failure of the server: the conventions leave its span status unset.
    if (statusCode >= 500) markFailed(span, errorCode || String(statusCode))
  } else markFailed(span, 'connection_closed')
  span.end()
}
