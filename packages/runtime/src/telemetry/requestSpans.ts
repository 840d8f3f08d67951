// A span for each request that an app serves, by the conventions of OpenTelemetry for HTTP.
import { type Context, context, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isTracing, markFailed, tracer } from './spans.ts'

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
