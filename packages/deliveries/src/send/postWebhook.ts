// Why an attempt failed, in a word that an operator can search for.

import type { EndpointResponse } from '@paylog/webhooks/chat/chatAdapter'
import { isDelivered, retryAfterMs, type SuccessStatus } from '@paylog/webhooks/endpointResponse'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { type Dispatcher, request } from 'undici'
import { type EndpointAgent, ForbiddenAddressError } from './endpointAgent.ts'
import { maxStoredBytes, type ReadBody, redactedBody, textOf } from './responseBody.ts'

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

/** Answers of undici's that are about the other side's HTTP, and have no code of their own. */
const invalidResponses: readonly string[] = ['bad response', 'bad upgrade']

/** The class of an answer that is no success. */
export function statusFailure(httpStatus: number): FailureClass {
  if (httpStatus >= 300 && httpStatus < 400) return 'redirect'
  if (httpStatus === 410) return 'gone'
  if (httpStatus === 429) return 'rate_limited'
  // A chat service says in the body that it took nothing.
  return httpStatus === 200 ? 'rejected' : 'unexpected_status'
}

/** The class of an attempt that got no answer. */
export function requestFailure(error: unknown): FailureClass {
  if (error instanceof ForbiddenAddressError) return 'forbidden_address'
  if (!(error instanceof Error)) return 'network'
  if (error.name === 'TimeoutError') return 'timeout'
  // undici gives some of its parser's errors no code.
  if (error.name === 'HTTPParserError' || invalidResponses.includes(error.message)) return 'invalid_response'
  const code = failureCode(error) ?? ''
  return byCode.get(code) ?? byPrefix.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'network'
}

/** The code of an error; unlike its message it holds nothing of the address. */
export function failureCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

// One HTTP request to an endpoint: bounded in time and size, and never redirected.

export type PostResult = {
  readonly httpStatus: number | null
  /** `null` exactly for a success. */
  readonly error: FailureClass | null
  /** The code that the network's error had: what a certificate lacks, say. */
  readonly code: string | null
  /** What may be kept of it. */
  readonly responseBody: string | null
  /** For how long a failing endpoint asks to be left alone. */
  readonly retryAfterMs: number | undefined
}

type PostOptions = {
  readonly agent: EndpointAgent
  readonly endpoint: Pick<WebhookEndpoint, 'url' | 'format' | 'timeoutMs'>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly successStatus: SuccessStatus
  /** What must not be kept of the answer, the longest first. */
  readonly secrets: readonly string[]
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Posts a message. What the endpoint or the network does is a result; only an abort of `signal` is thrown, because then
 * nothing is known about the attempt.
 */
export async function postWebhook(options: PostOptions): Promise<PostResult> {
  const { endpoint, signal } = options
  // One clock for all of it: name, connection, answer and body.
  const clock = new AbortController()
  const runOut = () => clock.abort(new DOMException('The endpoint did not answer in time', 'TimeoutError'))
  const timer = setTimeout(runOut, endpoint.timeoutMs)
  const stop = () => clock.abort(signal.reason)
  signal.addEventListener('abort', stop)
  try {
    signal.throwIfAborted()
    const response = await sendRequest(options, clock.signal)
    const read = await readStart(response.body)
    return toPostResult(options, { httpStatus: response.statusCode, headers: response.headers, body: read.text }, read)
  } catch (error) {
    signal.throwIfAborted()
    const code = failureCode(error)
    return { httpStatus: null, error: requestFailure(error), code, responseBody: null, retryAfterMs: undefined }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** While it looks for a name or a connection undici does not hear that it is to stop, so the clock stops the waiting. */
async function sendRequest({ agent, endpoint, headers, body }: PostOptions, clock: AbortSignal) {
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(clock.reason)
  clock.addEventListener('abort', stop)
  try {
    const response = request(endpoint.url, {
      method: 'POST',
      dispatcher: agent.connections(endpoint.timeoutMs),
      headers: { 'content-type': 'application/json', 'user-agent': 'paylog-webhooks/1', ...headers },
      body,
      signal: clock,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return await Promise.race([response, stopped.promise])
  } finally {
    clock.removeEventListener('abort', stop)
  }
}

function toPostResult(
  { endpoint, successStatus, secrets, now }: PostOptions,
  response: EndpointResponse,
  read: ReadBody,
): PostResult {
  const { httpStatus } = response
  const isSuccess = isDelivered(endpoint, response, successStatus)
  return {
    httpStatus,
    error: isSuccess ? null : statusFailure(httpStatus),
    code: null,
    responseBody: redactedBody(read, secrets),
    retryAfterMs: isSuccess ? undefined : retryAfterMs(endpoint.format, response, now()),
  }
}

/**
 * The first bytes of a response, as text. The status has decided already, so a body that breaks off, or goes on until
 * the timeout, is kept as far as it came. A longer one is cut, which costs the endpoint its open connection.
 */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<ReadBody> {
  const chunks: Buffer[] = []
  let bytes = 0
  let isCut = false
  body.on('error', () => undefined)
  try {
    for await (const chunk of body) {
      chunks.push(Buffer.from(chunk))
      bytes += chunk.length
      isCut = bytes > maxStoredBytes
      if (isCut) break
    }
  } catch {
    // What was read is all there is.
    isCut = true
  }
  return { text: textOf(Buffer.concat(chunks).subarray(0, maxStoredBytes), isCut), isCut }
}
