// The `stripe` package on our own HTTP client: one limit of time for all tries of a call, and known whether one was sent.
import Stripe from 'stripe'
import { parseJson, rateLimitIn, unreadableResponse } from '../answers.ts'
import { createHttpClient, type HttpResponse, type HttpClient } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError } from '../provider.ts'
import { withRetries } from '../repeatCall.ts'
import { unavailableMessage, isUnavailable, toProviderError } from './refusals.ts'

/** To be spread into the options of every request of one question. */
export type TimeLeft = () => { readonly timeout: number }

export type StripeApi = {
  /**
   * Asks, and asks again when it was throttled or the answer was lost: the same requests, so those that change something carry keys.
   * @throws ProviderError
   */
  call<Result>(send: (stripe: Stripe, timeLeft: TimeLeft) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** @param options `timeoutMs` is for all tries and all requests of one question together */
export function createStripeApi(options: {
  readonly secretKey: string
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): StripeApi {
  const { apiBase: origin, pace, timeoutMs } = options
  const http = createHttpClient({ origin, pace })
  // What repeats a call is below, and only that.
  const stripe = new Stripe(options.secretKey, {
    httpClient: stripeHttpClient(http),
    maxNetworkRetries: 0,
    telemetry: false,
  })
  return {
    call: (send) =>
      withRetries({ timeoutMs, pace }, async (remainingMs) => {
        const giveUpAt = performance.now() + remainingMs
        try {
          return await send(stripe, () => ({ timeout: Math.max(1, Math.floor(giveUpAt - performance.now())) }))
        } catch (error) {
          throw toProviderError(error)
        }
      }),
    close: () => http.close(),
  }
}

/**
 * The package's own client limits only the silence on a connection, waits for a connection without limit, and makes a
 * call again by itself when its connection was reset, so that nobody could tell whether the first try was sent.
 */
function stripeHttpClient(http: HttpClient): Stripe.HttpClient {
  return {
    getClientName: () => 'undici',
    async makeRequest(_host, _port, path, method, headers, body, _protocol, timeoutMs) {
      const response = await withoutRetry(() =>
        http.send({
          method: method === 'POST' ? 'POST' : 'GET',
          path,
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
          ...(body === '' ? {} : { body }),
          timeoutMs,
        }),
      )
      const parsed = await withoutRetry(async () => parseResponse(response))
      return {
        getStatusCode: () => response.status,
        getHeaders: () =>
          Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, `${value}`])),
        getRawResponse: () => ({ headers: response.headers, statusCode: response.status }),
        toStream: () => undefined,
        toJSON: async () => parsed,
      }
    },
  }
}

/** The package looks at the code of what is thrown here, and repeats a call for some of them. Without a code it does not. */
async function withoutRetry<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (cause) {
    throw new Error('Not answered', { cause })
  }
}

/** The package takes any JSON without an `error` for a success, whatever the status is. */
function parseResponse({ status, headers, text }: HttpResponse): unknown {
  const parsed = parseJson(text)
  if (isObject(parsed) && ('error' in parsed ? isObject(parsed.error) : status < 300)) return parsed
  if (isUnavailable(status))
    throw new ProviderError('unavailable', `http_${status}`, unavailableMessage(status), {
      rateLimit: status === 429 ? rateLimitIn(headers) : null,
    })
  throw unreadableResponse('unreadable_answer')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
