// Stripe's API: the `stripe` package on our own HTTP client, and its errors. https://docs.stripe.com/api/errors
import Stripe from 'stripe'
import { createHttpClient, type HttpClient, type HttpResponse } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'
import { parseJson, rateLimitIn, unreadableResponse } from '../responses.ts'
import { withRetries } from '../retries.ts'

/** Our own messages, because Stripe's may repeat the client's input. */
const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'The payment was declined',
  rejected: 'The provider rejected the request',
  currency: 'The provider does not accept this amount in this currency',
  unavailable: 'The provider is not available at the moment',
  unknown: 'The provider did not report the outcome',
}

/** An amount that cannot be expressed at Stripe, so that nothing is sent. */
export function amountNotWritable(): ProviderError {
  return new ProviderError('currency', 'amount_not_writable', messages.currency)
}

/** For reading an object that Stripe may not know. */
export function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}

/** A rejection by us of something that Stripe would accept. */
export function rejected(code: string): ProviderError {
  return new ProviderError('rejected', code, messages.rejected)
}

/** Converts an error of the `stripe` package; returns any other error unchanged. */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  const cause = error.detail instanceof Error ? error.detail.cause : undefined
  if (cause instanceof ProviderError) return cause
  const kind = kindOf(error)
  const rateLimit = isTooMany(error) ? rateLimitIn({ 'retry-after': error.headers?.['retry-after'] }) : null
  const message = kind === 'unavailable' ? unavailableMessage(error.statusCode) : messages[kind]
  return new ProviderError(kind, codeOf(error), message, { cause: causeOf(error), rateLimit })
}

/** Only the operator can fix wrong credentials; the other causes pass. */
function unavailableMessage(status: number | undefined): string {
  return status === 401 || status === 403 ? 'The provider rejected our credentials' : messages.unavailable
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
  // 5xx; 409 while the first call with the key is in progress; a key reused with other parameters; anything new.
  return 'unknown'
}

/** Stripe did nothing: it rejected the credentials, or there were too many requests. */
function isUnavailable(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 429
}

/** Whether an intent is in a status that does not allow the call. */
export function isUnexpectedState(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'payment_intent_unexpected_state'
}

/** For calls on a payment that exists: its currency is accepted, so Stripe rejects only the amount. */
export function rejectedIfAboutCurrency(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== 'currency') throw error
  throw new ProviderError('rejected', error.code, messages.rejected, { cause: error.cause })
}

/** Whether Stripe rejected the request as invalid. */
export function isInvalidRequest(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError
}

/** Whether Stripe does not know an object in the request; with `param`, the one in that parameter. */
export function isMissing(error: unknown, param?: string): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'resource_missing' &&
    (param === undefined || error.param === param)
  )
}

/** Whether Stripe already has an object with the id chosen for a new one. */
export function isAlreadyExisting(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_already_exists'
}

function isAboutCurrency({ code, param }: Stripe.errors.StripeError): boolean {
  return param === 'currency' || code === 'amount_too_small' || code === 'amount_too_large'
}

const codePattern = /^[a-z0-9_]{1,64}$/

/** Prefers the bank's own code, if the bank declined. */
function codeOf({ decline_code, code, rawType, statusCode }: Stripe.errors.StripeError): string {
  const codes = [decline_code, code, rawType].filter((each) => each !== undefined && codePattern.test(each))
  return codes[0] ?? `http_${statusCode}`
}

/** Lets an operator find the request in Stripe's log. Leaves out the message, which may contain personal data. */
function causeOf(error: Stripe.errors.StripeError): Error {
  return new Error(`Stripe responded ${error.statusCode}, ${codeOf(error)}, to request ${error.requestId}`)
}

/** Spread into the options of every request of a call. */
export type TimeLeft = () => { readonly timeout: number }

export type StripeApi = {
  /**
   * Makes a call and retries it when throttled or after a lost response, so requests that change something need keys.
   * @throws ProviderError
   */
  call<Result>(send: (stripe: Stripe, timeLeft: TimeLeft) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** @param options `timeoutMs`: for all attempts and requests of one call together */
export function createStripeApi(options: {
  readonly secretKey: string
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): StripeApi {
  const { apiBase: origin, pace, timeoutMs } = options
  const http = createHttpClient({ origin, pace })
  // Only `withRetries` below retries a call.
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
 * Replaces the package's own client, which limits only idle time, waits for a connection without a limit, and retries
 * after a connection reset, so that we could not know whether the first attempt was sent.
 */
function stripeHttpClient(http: HttpClient): Stripe.HttpClient {
  return {
    getClientName: () => 'undici',
    async makeRequest(_host, _port, path, method, headers, body, _protocol, timeoutMs) {
      const response = await withoutRetry(() =>
        http.send({
          method: method === 'POST' || method === 'DELETE' ? method : 'GET',
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

/** Wraps errors without their code, because the package retries calls for some error codes. */
async function withoutRetry<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (cause) {
    throw new Error('No response', { cause })
  }
}

/** Checks the status, because the package treats any JSON without `error` as a success. */
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
