// Response headers for browsers: CORS, and security headers.
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** The headers of every response; empty unless `browserHeaders` fills them. */
    readonly commonHeaders: Record<string, string>
  }
}

/** Suitable for JSON responses; the documentation pages set their own policy. */
const everyResponse = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  // Without includeSubDomains: subdomains may belong to others.
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Response headers that scripts of other origins may read. */
const exposedHeaders = [
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Event-Position',
  'X-Log-Head',
  'X-Next-Position',
  'X-Read-Stale',
  'X-Request-Id',
  'X-Row-Count',
]
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'X-Guest-Token',
  'X-Read-After',
  'X-Reason',
  'X-Session-ID',
]
const preflightSeconds = 600

/**
 * Must be called before routes are registered.
 * @param options `origins` that browsers may call from; none when empty
 */
export async function browserHeaders(
  http: FastifyInstance,
  { origins }: { readonly origins: readonly string[] },
): Promise<void> {
  // With CORS, its rules decide which origins may read a response.
  const policy = { 'cross-origin-resource-policy': origins.length > 0 ? 'cross-origin' : 'same-origin' }
  // Errors may be sent without any hook, so `handleError` sets them, too.
  const headers = Object.assign(http.commonHeaders, everyResponse, policy)
  http.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  if (origins.length === 0) return
  await http.register(cors, {
    // Normalised as browsers send them: an operator may have added a trailing slash.
    origin: origins.map((origin) => new URL(origin).origin),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: requestHeaders,
    exposedHeaders,
    maxAge: preflightSeconds,
    // The plugin's rejection would not be in the error envelope; other OPTIONS requests get the same empty response.
    strictPreflight: false,
  })
}
