// Spans of what the apps do. They cost nothing while nobody collects them.
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

// A span for each request that an app serves, by the conventions of OpenTelemetry for HTTP.

type TracedRequest = { readonly span: Span; readonly active: Context }

/**
 * Begins a trace with every request, and keeps its span active until the answer is sent. To be called before any other hook.
 *
 * A `traceparent` that comes with a request is not looked at. Clients are strangers: they could have all of their requests
 * sampled, write into traces of others, or make one trace of everything. A span tells the route's pattern and never the
 * URL: what is in there may be a credential, or a person.
 */
export function traceRequests(http: FastifyInstance): void {
  if (!isTracing()) return
  const traced = new WeakMap<FastifyRequest, TracedRequest>()
  // What is active goes along with the request (Fastify carries it over the reading of a body), but not to its end.
  const runInContext = (request: FastifyRequest, done: () => void) => {
    const active = traced.get(request)?.active
    if (active) context.with(active, done)
    else done()
  }
  http.addHook('onRequest', (request, reply, done) => {
    if (isForOperators(request.routeOptions.url)) return done()
    const span = startRequestSpan(request)
    traced.set(request, { span, active: trace.setSpan(ROOT_CONTEXT, span) })
    // It comes after the answer, or instead of it.
    reply.raw.once('close', () => {
      endRequestSpan(span, request, reply.raw)
      traced.delete(request)
    })
    runInContext(request, done)
  })
  http.addHook('onResponse', (request, _reply, done) => runInContext(request, done))
}

/** Probes come every few seconds and tell nothing. */
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
    // A refusal is no failure of the server: the convention leaves its status open.
    if (statusCode >= 500) markFailed(span, errorCode || String(statusCode))
  } else markFailed(span, 'connection_closed')
  span.end()
}
