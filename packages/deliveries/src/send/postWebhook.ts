// One HTTP request to an endpoint: bounded in time and size, and never redirected.
import { isDelivered, retryAfterMs, type SuccessStatus } from '@paylog/webhooks/answers'
import type { EndpointResponse } from '@paylog/webhooks/endpointAnswer'
import type { WebhookEndpoint } from '@paylog/webhooks/nodes/nodes'
import { type Dispatcher, request } from 'undici'
import type { EndpointAgent } from './endpointAgent.ts'
import { type FailureClass, failureCode, requestFailure, statusFailure } from './failureClass.ts'
import { redactedBody, maxStoredBytes, type ReadBody, textOf } from './keptBody.ts'

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
