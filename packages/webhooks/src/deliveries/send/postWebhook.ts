// One HTTP POST to an endpoint, bounded in time and size and without redirects, and the classification of its failure.

import type { Dispatcher } from 'undici'
import { isDelivered, retryAfterMs, type SuccessStatus } from '../../endpoints/endpointResponse.ts'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import type { EndpointResponse } from '../../messages/chat/chatAdapter.ts'
import { contentHeaders } from '../../messages/signing.ts'
import { type EndpointAgent, ForbiddenAddressError } from './endpointAgent.ts'
import { maxStoredBytes, type ReadBody, redactedBody, shortestSecret, textOf } from './responseBody.ts'

/** Why an attempt failed. Stored and logged, so that operators can search for it. */
export type FailureClass =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'dns'
  | 'tls'
  | 'forbidden_address'
  | 'invalid_response'
  | 'network'
  | 'redirect'
  | 'gone'
  | 'rate_limited'
  | 'rejected'
  | 'unexpected_status'
  /** Not sent: personal data was erased, and nothing is left of the message. */
  | 'erased'

export type PostResult = {
  readonly httpStatus: number | null
  /** `null` exactly for a success. */
  readonly error: FailureClass | null
  /** The code of the network error, which names, for example, the fault of a certificate. */
  readonly code: string | null
  /** The start of the response body, redacted. */
  readonly responseBody: string | null
  /** From the `Retry-After` of a failing endpoint. */
  readonly retryAfterMs: number | undefined
}

type PostOptions = {
  readonly agent: EndpointAgent
  readonly endpoint: Pick<WebhookEndpoint, 'url' | 'format' | 'timeoutMs'>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly successStatus: SuccessStatus
  /** Redacted from the stored response, longest first. */
  readonly secrets: () => readonly string[]
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Posts a message. Failures of the endpoint or the network are results. It throws only when `signal` aborts, because the
 * outcome is unknown then.
 */
export async function postWebhook(options: PostOptions): Promise<PostResult> {
  const { signal } = options
  try {
    signal.throwIfAborted()
    return toPostResult(options, await exchange(options))
  } catch (error) {
    signal.throwIfAborted()
    const code = failureCode(error)
    return { httpStatus: null, error: requestFailure(error), code, responseBody: null, retryAfterMs: undefined }
  }
}

type Received = Omit<EndpointResponse, 'body'> & { readonly body: ReadBody }

/**
 * Sends the request and reads the start of the response. The status alone decides, so the received part of a body that breaks
 * off or is still open at the timeout is kept. A longer body is cut, which closes the connection. One deadline covers DNS,
 * connection, response and body; undici itself does not stop a lookup or a connection attempt.
 */
function exchange({ agent, endpoint, headers, body, signal }: PostOptions): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const chunks: Buffer[] = []
  let bytes = 0
  let response: Pick<Received, 'httpStatus' | 'headers'> | undefined
  let request: Dispatcher.DispatchController | undefined
  let isOver = false

  function end(error: unknown, isCut: boolean): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    if (response === undefined) {
      reject(error)
      return
    }
    const start = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    resolve({ ...response, body: { text: textOf(start.subarray(0, maxStoredBytes), isCut), isCut } })
  }

  function abort(reason: Error): void {
    end(reason, true)
    request?.abort(reason)
  }

  const stop = () => {
    response = undefined
    abort(new Error('Stopped', { cause: signal.reason }))
  }
  const expire = () => abort(new DOMException('The endpoint did not respond in time', 'TimeoutError'))
  const timer = setTimeout(expire, endpoint.timeoutMs)
  signal.addEventListener('abort', stop)

  const { origin, pathname, search } = new URL(endpoint.url)
  const allHeaders = { ...contentHeaders, ...headers }
  const target = { origin, path: `${pathname}${search}`, method: 'POST', headers: allHeaders, body } as const
  agent.connections(endpoint.timeoutMs).dispatch(
    { ...target, headersTimeout: 0, bodyTimeout: 0 },
    {
      onRequestStart(controller) {
        request = controller
        if (isOver) controller.abort(new Error('Stopped before the request'))
      },
      onResponseStart(_, httpStatus, responseHeaders) {
        // 1xx precedes the response.
        if (httpStatus >= 200) response = { httpStatus, headers: responseHeaders }
      },
      onResponseData(_, chunk) {
        if (isOver) return
        // undici reuses the memory.
        chunks.push(Buffer.from(chunk))
        bytes += chunk.length
        if (bytes > maxStoredBytes) abort(new Error('The response is too long'))
      },
      onResponseEnd: () => end(undefined, false),
      onResponseError: (_, error) => end(error, true),
    },
  )
  return promise
}

function toPostResult(
  { endpoint, successStatus, secrets, now }: PostOptions,
  { httpStatus, headers, body }: Received,
): PostResult {
  const response = { httpStatus, headers, body: body.text }
  const isSuccess = isDelivered(endpoint, response, successStatus)
  return {
    httpStatus,
    error: isSuccess ? null : statusFailure(httpStatus),
    code: null,
    // Most endpoints respond with a word, which needs no list of secrets.
    responseBody: redactedBody(body, body.text.length < shortestSecret ? [] : secrets()),
    retryAfterMs: isSuccess ? undefined : retryAfterMs(endpoint.format, response, now()),
  }
}

const codes: Readonly<Record<string, FailureClass>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  INVALID_CA: 'tls',
  INVALID_PURPOSE: 'tls',
  PATH_LENGTH_EXCEEDED: 'tls',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid_response',
}
const byCode: ReadonlyMap<string, FailureClass> = new Map(Object.entries(codes))

const byPrefix: readonly (readonly [string, FailureClass])[] = [
  ['EAI_', 'dns'],
  ['ERR_TLS', 'tls'],
  ['ERR_SSL', 'tls'],
  ['CERT_', 'tls'],
  ['SELF_SIGNED_', 'tls'],
  ['UNABLE_TO_', 'tls'],
  ['HPE_', 'invalid_response'],
]

/** Messages of undici errors that mean invalid HTTP from the endpoint, and have no code. */
const invalidResponses: readonly string[] = ['bad response', 'bad upgrade']

/** The failure class of an unsuccessful response. */
function statusFailure(httpStatus: number): FailureClass {
  if (httpStatus >= 300 && httpStatus < 400) return 'redirect'
  if (httpStatus === 410) return 'gone'
  if (httpStatus === 429) return 'rate_limited'
  // A chat service responds 200 and reports the rejection in the body.
  return httpStatus === 200 ? 'rejected' : 'unexpected_status'
}

/** The failure class of an attempt without a response. */
function requestFailure(error: unknown): FailureClass {
  if (error instanceof ForbiddenAddressError) return 'forbidden_address'
  if (!(error instanceof Error)) return 'network'
  if (error.name === 'TimeoutError') return 'timeout'
  // Some errors of undici's parser have no code.
  if (error.name === 'HTTPParserError' || invalidResponses.includes(error.message)) return 'invalid_response'
  const code = failureCode(error) ?? ''
  return byCode.get(code) ?? byPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'network'
}

/** The code of an error. Unlike the message it contains no part of the URL. */
function failureCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
