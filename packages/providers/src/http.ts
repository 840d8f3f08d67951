// One HTTP exchange with a provider: sent once, bounded in time and size, and clear about whether anything was sent.
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { Agent, type Dispatcher } from 'undici'
import type { Pace } from './pacing.ts'
import { ProviderError } from './provider.ts'
import { checkResponse, parseJson } from './responses.ts'

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With its query, if any. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For the whole exchange, waiting for its turn and for a connection included. */
  readonly timeoutMs: number
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
   * Any status is an answer, redirects included, which are never followed.
   * @throws ProviderError `unavailable` when nothing was sent, because it was not its turn for one; `unknown` when the answer did not come, or not as a whole
   */
  send(request: HttpRequest): Promise<HttpResponse>
  /** Drops what is under way. */
  close(): Promise<void>
}

/** Enough for the calls that a process has under way at once; what is beyond waits within its own time limit. */
const defaultMaxConnections = 64
/** Shorter than the idle time after which providers hang up, so that few calls meet a connection that is just closing. */
const keepAliveMs = 30_000
/** Frees the places of connections that nobody answers, so that later exchanges do not wait behind them. */
const connectTimeoutMs = 5_000
/** The answers of all calls that are made have a few KiB. */
const defaultMaxResponseBytes = 1024 * 1024

/**
 * @param options `origin`: scheme, host and port; `pace`: what all clients of a provider share; `maxBytes` of an answer;
 *   `maxConnections` at once
 */
export function createHttpClient({
  origin,
  pace,
  maxBytes = defaultMaxResponseBytes,
  maxConnections = defaultMaxConnections,
}: {
  readonly origin: string
  readonly pace: Pick<Pace, 'acquire'>
  readonly maxBytes?: number
  readonly maxConnections?: number
}): HttpClient {
  const agent = new Agent({
    connections: maxConnections,
    keepAliveTimeout: keepAliveMs,
    maxResponseSize: maxBytes,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    // Each exchange has one clock, which is kept below.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    async send({ timeoutMs, ...request }) {
      return exchange(agent, origin, { ...request, timeoutMs: await pace.acquire(timeoutMs) })
    },
    // Nobody is left to hear the answers.
    close: () => agent.destroy(),
  }
}

function exchange(agent: Agent, origin: string, { timeoutMs, ...request }: HttpRequest): Promise<HttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
  const chunks: Buffer[] = []
  let sending: Dispatcher.DispatchController | undefined
  let isOver = false
  let status = 0
  let headers: IncomingHttpHeaders = {}
  const timer = setTimeout(
    () => fail(new Error(`No answer within ${Math.round(timeoutMs)} ms`), 'timeout'),
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
    { origin, ...request, body: request.body ?? null },
    {
      // Called when the first byte is about to be written, and not before there is a connection.
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

/**
 * Reads the JSON of an answer and checks its shape.
 * @throws ProviderError `unknown`: the provider did something, and nobody can tell what
 */
export function readResponse<Schema extends TSchema>(
  validator: Validator<Record<never, never>, Schema>,
  { text }: HttpResponse,
): Static<Schema> {
  return checkResponse(validator, parseJson(text))
}

function requestNotSent(code: string, cause: Error): ProviderError {
  return new ProviderError('unavailable', code, 'The provider could not be reached', { cause })
}

function responseLost(code: string, cause: Error): ProviderError {
  return new ProviderError('unknown', code, 'The provider did not answer', { cause })
}

/** `econnrefused`, `und_err_socket`, … */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code.toLowerCase() : 'connection_failed'
}
