// What browsers are told about the answers: who may read them, and to do nothing else with them.
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Answers are data; the pages of the documentation have a policy of their own. */
const everyResponse = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  // Of this host alone: what else runs below its name is not ours.
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** What a script of another origin may read of an answer beside its body. */
const exposedHeaders = [
  'ETag',
  'Idempotent-Replayed',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Event-Position',
  'X-Read-Stale',
  'X-Request-Id',
]
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'X-Guest-Token',
  'X-Read-After',
  'X-Session-ID',
]
const preflightSeconds = 600

/**
 * @param http before any route is there
 * @param options `origins` are those that browsers may call from; none when empty
 */
export async function browserHeaders(
  http: FastifyInstance,
  { origins }: { readonly origins: readonly string[] },
): Promise<void> {
  const headers = new Map(Object.entries(everyResponse))
  // Whoever may read an answer is told by the rules of CORS.
  headers.set('cross-origin-resource-policy', origins.length > 0 ? 'cross-origin' : 'same-origin')
  // Not as a hook: Fastify answers a URL that it cannot read before any hook has run.
  http.server.prependListener('request', (_request, response) => response.setHeaders(headers))
  if (origins.length === 0) return
  await http.register(cors, {
    // As browsers write them: an operator may have put a slash behind one.
    origin: origins.map((origin) => new URL(origin).origin),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: requestHeaders,
    exposedHeaders,
    maxAge: preflightSeconds,
    // Its refusal would not be in the envelope; an OPTIONS that is no preflight gets the same empty answer.
    strictPreflight: false,
  })
}
