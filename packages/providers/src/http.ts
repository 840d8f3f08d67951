// HTTP client for providers: sends a request once, limits its time and size, and reports whether anything was sent.
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, type Dispatcher } from 'undici'
import type { Pace } from './pacing.ts'
import { ProviderError } from './provider.ts'
import { remainingMs } from './timeLimit.ts'

export type HttpRequest = {
  readonly method: 'HEAD' | 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Includes the query string. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type HttpResponse = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** UTF-8, without a byte order mark. */
  readonly text: string
}

export type HttpClient = {
  /**
   * Returns responses of every status. Redirects are not followed. The time limit includes the wait for the rate limit
   * and for a connection.
   * @throws ProviderError `unavailable` when nothing was sent, for example because of our rate limit; `unknown` when
   *   the response was lost or incomplete
   */
  send(request: HttpRequest): Promise<HttpResponse>
  /** Aborts the requests in flight. */
  close(): Promise<void>
}

/** Enough for the parallel calls of one process. Further calls wait within their time limit. */
const defaultMaxConnections = 64
/** Shorter than the providers' idle timeouts, so that few calls meet a closing connection. */
const keepAliveMs = 30_000
/** Stops hanging connection attempts, so that they do not block later calls. */
const connectTimeoutMs = 5_000
/** Typical responses have a few KiB. */
const defaultMaxResponseBytes = 1024 * 1024

/**
 * @param options `origin`: scheme, host and port; `pace`: shared by all clients of a provider; `timeoutMs`: of one
 *   request, which may end earlier by the call's time limit; `maxBytes` of a response; `maxConnections`: parallel connections
 */
export function createHttpClient({
  origin,
  pace,
  timeoutMs,
  maxBytes = defaultMaxResponseBytes,
  maxConnections = defaultMaxConnections,
}: {
  readonly origin: string
  readonly pace: Pick<Pace, 'acquire'>
  readonly timeoutMs: number
  readonly maxBytes?: number | undefined
  readonly maxConnections?: number | undefined
}): HttpClient {
  const agent = new Agent({
    connections: maxConnections,
    keepAliveTimeout: keepAliveMs,
    maxResponseSize: maxBytes,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    // `exchange` has one timer for the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    async send(request) {
      await pace.acquire()
      return exchange(agent, { origin, ...request }, Math.min(timeoutMs, remainingMs()))
    },
    close: () => agent.destroy(),
  }
}

/** Dispatches by itself, because only so it is known whether the request was sent when it fails. */
function exchange(
  agent: Agent,
  { body, ...request }: HttpRequest & { readonly origin: string },
  timeoutMs: number,
): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const chunks: Buffer[] = []
  let sending: Dispatcher.DispatchController | undefined
  let isOver = false
  let status = 0
  let headers: IncomingHttpHeaders = {}
  const timer = setTimeout(
    () => fail(new Error(`No response within ${Math.round(timeoutMs)} ms`), 'timeout'),
    Math.max(0, timeoutMs),
  )
  const end = () => {
    isOver = true
    clearTimeout(timer)
  }
  function fail(cause: Error, code: string) {
    if (isOver) return
    end()
    reject(sending ? responseLost(code, cause) : requestNotSent(code, cause))
    sending?.abort(cause)
  }
  agent.dispatch(
    { ...request, body: body ?? null },
    {
      // Called on an open connection, just before the first byte is written.
      onRequestStart(controller) {
        if (isOver) return controller.abort(new Error('Too late to be sent'))
        sending = controller
      },
      onResponseStart(_controller, statusCode, received) {
        status = statusCode
        headers = received
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd() {
        end()
        resolve({ status, headers, text: new TextDecoder().decode(Buffer.concat(chunks)) })
      },
      onResponseError: (_controller, error) => fail(error, codeOf(error)),
    },
  )
  return promise
}

function requestNotSent(code: string, cause: Error): ProviderError {
  return new ProviderError('unavailable', code, 'The provider could not be reached', { cause })
}

function responseLost(code: string, cause: Error): ProviderError {
  return new ProviderError('unknown', code, 'The provider did not respond', { cause })
}

/** `econnrefused`, `und_err_socket`, … */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code.toLowerCase() : 'connection_failed'
}
