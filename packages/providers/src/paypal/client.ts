// Calls to PayPal's API: with a token, with a key, and again when one was throttled or an answer was lost.
import { createHttpClient, type HttpResponse, type HttpRequest } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { withRetries } from '../repeatCall.ts'
import { createAccessTokens } from './accessToken.ts'
import { type PaypalRejection, rejectionIn } from './refusals.ts'

export type PaypalCall = {
  readonly method: HttpRequest['method']
  readonly path: string
  /** The `PayPal-Request-Id`: the same one gets the result of the first call. Every POST that makes something has one. */
  readonly key?: string
  /** JSON. */
  readonly body?: string
}

/** A success, or a definite no. */
export type PaypalResult<Value> =
  | { readonly rejection: null; readonly value: Value }
  | { readonly rejection: PaypalRejection; readonly response: HttpResponse }

export type PaypalClient = {
  /**
   * @param read reads a success. One that cannot be read counts as lost, and the call is made again
   * @param timeoutMs for all tries together
   * @throws ProviderError `unavailable`, `unknown`
   */
  call<Value>(call: PaypalCall, read: (answer: HttpResponse) => Value, timeoutMs?: number): Promise<PaypalResult<Value>>
  /** The limit of a call that is given none. */
  readonly timeoutMs: number
  close(): Promise<void>
}

/**
 * @param options `apiBase` is an origin; `timeoutMs` is for all tries of one call together; `repeats` says whether a call
 *   whose answer was lost is made again; `pace` is shared by all clients of PayPal
 */
export function createPaypalClient(options: {
  readonly clientId: string
  readonly clientSecret: string
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
  readonly maxConnections?: number
  readonly retries?: boolean
}): PaypalClient {
  const { apiBase: origin, pace, maxConnections, retries = true } = options
  const http = createHttpClient({ origin, pace, ...(maxConnections === undefined ? {} : { maxConnections }) })
  const tokens = createAccessTokens({ http, ...options })

  async function attempt(call: PaypalCall, timeoutMs: number): Promise<HttpResponse> {
    const giveUpAt = performance.now() + timeoutMs
    const remainingMs = () => giveUpAt - performance.now()
    const send = (token: string) => http.send({ ...requestOf(call, token), timeoutMs: remainingMs() })
    const token = await tokens.get(remainingMs())
    const answer = await send(token)
    if (answer.status !== 401) return answer
    // PayPal may withdraw a token before its end, and did nothing with the call.
    tokens.drop(token)
    return send(await tokens.get(remainingMs()))
  }

  return {
    call(call, read, timeoutMs = options.timeoutMs) {
      const attemptOnce = async (remainingMs: number) => {
        const answer = await attempt(call, remainingMs)
        const isSuccess = answer.status >= 200 && answer.status <= 299
        return isSuccess ? { refusal: null, value: read(answer) } : { refusal: rejectionIn(answer), answer }
      }
      return withRetries({ timeoutMs, pace, ...(retries ? {} : { maxRetries: 0 }) }, attemptOnce)
    },
    timeoutMs: options.timeoutMs,
    close: () => http.close(),
  }
}

function requestOf({ method, path, key, body }: PaypalCall, token: string) {
  const headers: Record<string, string> = {
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    // Otherwise PayPal leaves most of the object out of its answer.
    prefer: 'return=representation',
  }
  if (key !== undefined) headers['paypal-request-id'] = key
  if (body === undefined) return { method, path, headers }
  return { method, path, headers: { ...headers, 'content-type': 'application/json' }, body }
}
