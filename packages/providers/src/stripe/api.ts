// What Stripe's refusals mean for us. https://docs.stripe.com/api/errors
import Stripe from 'stripe'
import { createHttpClient, type HttpClient, type HttpResponse } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'
import { parseJson, rateLimitIn, unreadableResponse } from '../responses.ts'
import { withRetries } from '../retries.ts'

/** The messages are ours: Stripe's own may repeat what was sent. */
const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'The payment was declined',
  rejected: 'The provider does not accept this request',
  currency: 'The provider does not take this amount in this currency',
  unavailable: 'The provider does not take requests at the moment',
  unknown: 'The provider did not say what it did',
}

/** What Stripe accepts and we do not, in the words of what it does not accept. */
export function rejected(code: string): ProviderError {
  return new ProviderError('rejected', code, messages.rejected)
}

/** @returns what a failed call of the `stripe` package means; anything else that was thrown as it is */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  const cause = error.detail instanceof Error ? error.detail.cause : undefined
  if (cause instanceof ProviderError) return cause
  const kind = kindOf(error)
  const rateLimit = isTooMany(error) ? rateLimitIn({ 'retry-after': error.headers?.['retry-after'] }) : null
  const message = kind === 'unavailable' ? unavailableMessage(error.statusCode) : messages[kind]
  return new ProviderError(kind, codeOf(error), message, { cause: causeOf(error), rateLimit })
}

/** Waiting helps against one of the reasons, and only the operator against the other. */
function unavailableMessage(status: number | undefined): string {
  return status === 401 || status === 403 ? 'The provider refuses our credentials' : messages.unavailable
}

/** Too many requests at once, or about one object: https://docs.stripe.com/rate-limits */
function isTooMany({ statusCode, code }: Stripe.errors.StripeError): boolean {
  return statusCode === 429 || code === 'rate_limit'
}

function kindOf(error: Stripe.errors.StripeError): ProviderErrorKind {
  const { statusCode, rawType } = error
  if (isUnavailable(statusCode) || isTooMany(error)) return 'unavailable'
  if (statusCode === 402 || (rawType === 'card_error' && statusCode === 400)) return 'declined'
  if (rawType === 'invalid_request_error' && (statusCode === 400 || statusCode === 404))
    return isAboutCurrency(error) ? 'currency' : 'rejected'
  // 5xx; 409, while the first call with the key is still at work; a key that came with other parameters before, so that
  // what it did is not what was asked for now; and whatever comes some day.
  return 'unknown'
}

/** The answers that come before anything is done: the credentials are refused, or there are too many requests. */
function isUnavailable(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 429
}

/** Whether Stripe says that the request is wrong. */
export function isInvalidRequest(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError
}

/** Whether Stripe does not know an object that a request named; with `param`, the one that stood there. */
export function isMissing(error: unknown, param?: string): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'resource_missing' &&
    (param === undefined || error.param === param)
  )
}

/** Whether Stripe has an object already with the id that was chosen for a new one. */
export function isAlreadyExisting(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_already_exists'
}

function isAboutCurrency({ code, param }: Stripe.errors.StripeError): boolean {
  return param === 'currency' || code === 'amount_too_small' || code === 'amount_too_large'
}

const machineWord = /^[a-z0-9_]{1,64}$/

/** The bank's own code, where it was the bank that said no. */
function codeOf({ decline_code, code, rawType, statusCode }: Stripe.errors.StripeError): string {
  const words = [decline_code, code, rawType].filter((word) => word !== undefined && machineWord.test(word))
  return words[0] ?? `http_${statusCode}`
}

/** What an operator needs to find the request in Stripe's own log, without the text, which may hold data. */
function causeOf(error: Stripe.errors.StripeError): Error {
  return new Error(`Stripe answered ${error.statusCode}, ${codeOf(error)}, to request ${error.requestId}`)
}

// The `stripe` package on our own HTTP client: one limit of time for all tries of a call, and known whether one was sent.

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
