// Stripe's API: the client of the `stripe` package on our HTTP client, and what its errors mean.
// https://docs.stripe.com/api https://docs.stripe.com/api/errors
import Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { refusalText } from '../callWatch.ts'
import { maybe } from '../fields.ts'
import { createHttpClient, type HttpClient } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'
import { createProviderApi, ErrorResponse, nullIf, type ProviderApi } from '../providerApi.ts'
import { parseJson, rateLimitIn, respondedAt, unreadableResponse } from '../responses.ts'
import { toStripeAmount } from './objects.ts'

/** Requests and responses have the shape of this version. The type makes it the one that the package describes. */
const apiVersion: Stripe.LatestApiVersion = '2026-10-28.endive'

/**
 * A call of one of the package's resources. Every call that creates something has an `idempotencyKey`: calls are repeated
 * after a lost response. For a POST without one, the package makes one up that is never sent again, so it has no effect.
 */
export type StripeCall = (stripe: Stripe) => Promise<Stripe.Response<object>>

export type StripeApi = ProviderApi<StripeCall>

/** @param options `timeoutMs`: for all attempts and requests of one call together */
export function createStripeApi(options: {
  readonly secretKey: string
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): StripeApi {
  const http = createHttpClient({ ...options, origin: options.apiBase })
  const httpClient = packageClient(http)
  const stripe = new Stripe(options.secretKey, { apiVersion, httpClient, maxNetworkRetries: 0, telemetry: false })
  return createProviderApi(options, {
    async send(call) {
      try {
        const body = await call(stripe)
        const { headers } = body.lastResponse
        return { body, headers, responded_at: respondedAt(headers) }
      } catch (error) {
        throw providerErrorOf(error)
      }
    },
    isRepeatable: () => true,
    http,
  })
}

/**
 * Our HTTP client in the package's form. What it throws, and so whether anything was sent, arrives as the `detail` of a
 * StripeConnectionError. The origin, the time limit and the retries are our client's.
 */
function packageClient(http: HttpClient): Stripe.HttpClient {
  return {
    getClientName: () => 'undici',
    async makeRequest(_host, _port, path, method, headers, form) {
      const response = await http.send({
        // Our calls have no other method.
        method: method === 'GET' || method === 'DELETE' ? method : 'POST',
        path,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        ...(form === '' ? {} : { body: form }),
      })
      const json = readableBody(response.status, parseJson(response.text))
      const received = Object.fromEntries(Object.entries(response.headers).flatMap(headerForPackage))
      return {
        getStatusCode: () => response.status,
        getHeaders: () => received,
        getRawResponse: () => ({ headers: received }),
        toJSON: async () => json,
        toStream: () => null,
      }
    },
  }
}

/** The package would write Stripe's notices to stderr. */
function headerForPackage([name, value]: readonly [string, string | string[] | undefined]) {
  return typeof value === 'string' && name !== 'stripe-notice' ? [[name, value] as const] : []
}

const StripeError = Type.Object({
  type: maybe(Type.String()),
  code: maybe(Type.String()),
  /** The bank's own code, if the bank declined. */
  decline_code: maybe(Type.String()),
  param: maybe(Type.String()),
})
const stripeBody = Compile(Type.Object({ error: maybe(StripeError) }))

/**
 * The package takes every object without an error for a success, whatever its status, and never returns from a call whose
 * response is JSON but no object.
 * @throws ProviderError `unknown`
 */
function readableBody(status: number, body: unknown): object {
  if (stripeBody.Check(body) && (status < 300 || body.error)) return body
  // Stripe did nothing, whatever the body says.
  if (status === 401 || status === 403 || status === 429) return { error: {} }
  throw unreadableResponse('unreadable_answer')
}

/** Our own messages, because Stripe's may repeat the client's input. */
const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'The payment was declined',
  rejected: 'The provider rejected the request',
  currency: 'The provider does not accept this amount in this currency',
  unavailable: 'The provider is not available at the moment',
  unknown: 'The provider did not report the outcome',
}

function providerErrorOf(error: unknown): ProviderError {
  const { StripeError, StripeConnectionError } = Stripe.errors
  if (error instanceof StripeConnectionError && error.detail instanceof ProviderError) return error.detail
  if (error instanceof StripeError && error.statusCode !== undefined) return errorResponse(error, error.statusCode)
  // The package could not read the response.
  return new ProviderError('unknown', 'unreadable_answer', messages.unknown, { cause: error })
}

function errorResponse(error: Stripe.errors.StripeError, status: number): ErrorResponse {
  const { headers = {}, requestId, param, raw } = error
  const kind = kindOf(error)
  const code = codeOf(error) ?? `http_${status}`
  // Lets an operator find the request in Stripe's log, without Stripe's message, which may contain personal data.
  const cause = new Error(`Stripe responded ${status}, ${code}, to request ${requestId}`)
  const rateLimit = isThrottled(error) ? rateLimitIn(headers) : null
  const message = isAboutUs(error) ? 'The provider rejected our credentials' : messages[kind]
  const response = { status, headers, body: raw, responded_at: respondedAt(headers) }
  // A permission that a restricted key lacks, 403, says nothing about other calls.
  const refusal = error.type === 'StripeAuthenticationError' ? refusalText(error.message) : null
  return new ErrorResponse(kind, code, message, { cause, rateLimit, refusal, response, field: param })
}

const isThrottled = ({ type, code }: Stripe.errors.StripeError) =>
  type === 'StripeRateLimitError' || code === 'rate_limit'

const isAboutUs = ({ type }: Stripe.errors.StripeError) =>
  type === 'StripeAuthenticationError' || type === 'StripePermissionError'

function kindOf(error: Stripe.errors.StripeError): ProviderErrorKind {
  const { type, rawType, statusCode, code, param } = error
  // Stripe did nothing: it rejected the credentials, or there were too many requests.
  if (isThrottled(error) || isAboutUs(error)) return 'unavailable'
  if (type === 'StripeCardError' || (rawType === 'card_error' && statusCode === 400)) return 'declined'
  // 5xx; 409 while the first call with the key is in progress; a key reused with other parameters; anything new.
  if (type !== 'StripeInvalidRequestError' || rawType !== 'invalid_request_error') return 'unknown'
  const isAboutCurrency = param === 'currency' || code === 'amount_too_small' || code === 'amount_too_large'
  return isAboutCurrency ? 'currency' : 'rejected'
}

function codeOf({ decline_code, code, rawType }: Stripe.errors.StripeError): string | undefined {
  return [decline_code, code, rawType].find((each) => each && /^[a-z0-9_]{1,64}$/.test(each)) ?? undefined
}

/** Whether Stripe does not know an object in the request; with `param`, the one in that parameter. */
export function isMissing(error: unknown, param?: string): boolean {
  const isAboutParam = (found: ErrorResponse) => param === undefined || found.field === param
  return error instanceof ErrorResponse && error.code === 'resource_missing' && isAboutParam(error)
}

const balance = Compile(Type.Object({ object: Type.Literal('balance') }))

/** Reads the balance, which a restricted key may be forbidden to: then it is known all the same. @throws ProviderError */
export async function checkCredentials(api: StripeApi): Promise<void> {
  const forbiddenIsKnown = nullIf(({ status }) => status === 403)
  await api.request(balance, (stripe) => stripe.balance.retrieve()).catch(forbiddenIsKnown)
}

/** For reading an object that Stripe may not know. */
export const nullIfMissing = nullIf((error) => isMissing(error))

/** Whether an intent is in a status that does not allow the call. */
export function isUnexpectedState(error: unknown): boolean {
  return error instanceof ErrorResponse && error.code === 'payment_intent_unexpected_state'
}

/**
 * An amount as it is sent, by the rule of `checkStripeAmount`.
 * @throws ProviderError `currency` when it cannot be expressed at Stripe, so that nothing is sent
 */
export function sentAmount(amount_cents: number, currency: string): number {
  const amount = toStripeAmount(amount_cents, currency)
  if (amount === null) throw new ProviderError('currency', 'amount_not_writable', messages.currency)
  return amount
}

/** A rejection by us of something that Stripe would accept. */
export function rejected(code: string): ProviderError {
  return new ProviderError('rejected', code, messages.rejected)
}

/** For calls on a payment that exists: its currency is accepted, so Stripe rejects only the amount. */
export function rejectedIfAboutCurrency(error: unknown): never {
  if (!(error instanceof ProviderError) || error.kind !== 'currency') throw error
  throw new ProviderError('rejected', error.code, messages.rejected, { cause: error.cause })
}
