// One HTTP request to an endpoint: bounded in time and size, and never redirected.
import { Agent, type Dispatcher, request } from 'undici'
import { createAddressRule, guardedConnector } from './dialGuard.ts'
import { type FailureClass, requestFailure, statusFailure } from './failureClass.ts'

export type SuccessStatus = '200' | '2xx'

export type PostResult = {
  readonly httpStatus: number | null
  /** `null` exactly for a success. */
  readonly error: FailureClass | null
  readonly responseBody: string | null
}

const maxResponseBytes = 16 * 1024

/**
 * The connections to all endpoints, kept open between requests. How many there are is bounded by the workers'
 * concurrency, not here: a limit per host would let two nodes on one host delay each other.
 */
export function createEndpointAgent(allowedPrivateCidrs: readonly string[]): Agent {
  return new Agent({ connect: guardedConnector(createAddressRule(allowedPrivateCidrs)), pipelining: 1 })
}

/**
 * Posts a message. What the endpoint or the network does is a result; only an abort of `signal` is thrown, because then
 * nothing is known about the attempt.
 */
export async function postWebhook(options: {
  agent: Dispatcher
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  timeoutMs: number
  successStatus: SuccessStatus
  signal: AbortSignal
}): Promise<PostResult> {
  const { agent, url, headers, body, timeoutMs, successStatus, signal } = options
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json', 'user-agent': 'paylog-webhooks/1', ...headers },
      body,
      // One clock for all of it: name, connection, answer and body.
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const responseBody = await readStart(response.body)
    const httpStatus = response.statusCode
    const succeeded = httpStatus === 200 || (successStatus === '2xx' && httpStatus > 200 && httpStatus < 300)
    return { httpStatus, error: succeeded ? null : statusFailure(httpStatus), responseBody }
  } catch (error) {
    signal.throwIfAborted()
    return { httpStatus: null, error: requestFailure(error), responseBody: null }
  }
}

/**
 * The first bytes of a response, as text. The status has decided already, so a body that breaks off, or goes on until
 * the timeout, is kept as far as it came. A longer one is cut, which costs the endpoint its open connection.
 */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  body.on('error', () => undefined)
  try {
    for await (const chunk of body) {
      chunks.push(Buffer.from(chunk))
      bytes += chunk.length
      if (bytes >= maxResponseBytes) break
    }
  } catch {
    // Cut off: what was read is all there is.
  }
  return Buffer.concat(chunks).subarray(0, maxResponseBytes).toString('utf8')
}
