// Stripe's API: requests as forms, and its errors. https://docs.stripe.com/api https://docs.stripe.com/api/errors
import type Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { maybe } from '../fields.ts'
import { createHttpClient } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'
import { createProviderApi, type ErrorReader, ErrorResponse, nullIf, type ProviderApi } from '../providerApi.ts'
import { rateLimitIn, unreadableResponse } from '../responses.ts'
import { toStripeAmount } from './objects.ts'

/** Requests and responses have the shape of this version. The type makes it the one that the parameters' types describe. */
const apiVersion: Stripe.LatestApiVersion = '2026-10-28.endive'

export type StripeRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly params?: object
  /** The `Idempotency-Key`. Every POST that creates something has one: requests are repeated after a lost response. */
  readonly key?: string
}

export type StripeApi = ProviderApi<StripeRequest>

/** @param options `timeoutMs`: for all attempts and requests of one call together */
export function createStripeApi(options: {
  readonly secretKey: string
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): StripeApi {
  const http = createHttpClient({ ...options, origin: options.apiBase })
  const authorization = `Bearer ${options.secretKey}`
  return createProviderApi(options, {
    send({ method, path, params = {}, key }) {
      const form = formOf(params)
      const headers = {
        authorization,
        'stripe-version': apiVersion,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      }
      if (method !== 'POST') return http.send({ method, path: form === '' ? path : `${path}?${form}`, headers })
      const contentType = { 'content-type': 'application/x-www-form-urlencoded' }
      return http.send({ method, path, headers: { ...headers, ...contentType }, body: form })
    },
    isRepeatable: () => true,
    errorIn,
    http,
  })
}

/** `{ metadata: { payment_id: '1' }, expand: ['refunds'] }` as `metadata[payment_id]=1&expand[0]=refunds`. */
function formOf(params: object): string {
  const form = new URLSearchParams()
  const add = (name: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) return form.append(name, String(value))
    for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner)
  }
  for (const [name, value] of Object.entries(params)) add(name, value)
  return form.toString()
}

/** Our own messages, because Stripe's may repeat the client's input. */
const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'The payment was declined',
  rejected: 'The provider rejected the request',
  currency: 'The provider does not accept this amount in this currency',
  unavailable: 'The provider is not available at the moment',
  unknown: 'The provider did not report the outcome',
}

const StripeError = Type.Object({
  type: maybe(Type.String()),
  code: maybe(Type.String()),
  /** The bank's own code, if the bank declined. */
  decline_code: maybe(Type.String()),
  param: maybe(Type.String()),
})
type StripeError = Type.Static<typeof StripeError>
const errorBody = Compile(Type.Object({ error: StripeError }))

const errorIn: ErrorReader = (response) => {
  const { status, headers, body } = response
  const error = errorBody.Check(body) ? body.error : undefined
  if (!error && status < 300) return null
  if (!error && !isUnavailable(status)) return unreadableResponse('unreadable_answer')
  const isThrottled = status === 429 || error?.code === 'rate_limit'
  const kind = isThrottled ? 'unavailable' : kindOf(status, error)
  const code = codeOf(error) ?? `http_${status}`
  // Lets an operator find the request in Stripe's log, without Stripe's message, which may contain personal data.
  const cause = new Error(`Stripe responded ${status}, ${code}, to request ${headers['request-id']}`)
  const rateLimit = isThrottled ? rateLimitIn(headers) : null
  const isOurs = status === 401 || status === 403
  const message = isOurs ? 'The provider rejected our credentials' : messages[kind]
  return new ErrorResponse(kind, code, message, { cause, rateLimit, response, field: error?.param })
}

/** Stripe did nothing: it rejected the credentials, or there were too many requests. */
function isUnavailable(status: number): boolean {
  return status === 401 || status === 403 || status === 429
}

function kindOf(status: number, { type, code, param }: StripeError = {}): ProviderErrorKind {
  if (isUnavailable(status)) return 'unavailable'
  if (status === 402 || (type === 'card_error' && status === 400)) return 'declined'
  // 5xx; 409 while the first call with the key is in progress; a key reused with other parameters; anything new.
  if (type !== 'invalid_request_error' || (status !== 400 && status !== 404)) return 'unknown'
  const isAboutCurrency = param === 'currency' || code === 'amount_too_small' || code === 'amount_too_large'
  return isAboutCurrency ? 'currency' : 'rejected'
}

function codeOf({ decline_code, code, type }: StripeError = {}): string | undefined {
  return [decline_code, code, type].find((each) => each && /^[a-z0-9_]{1,64}$/.test(each)) ?? undefined
}

/** Whether Stripe does not know an object in the request; with `param`, the one in that parameter. */
export function isMissing(error: unknown, param?: string): boolean {
  const isAboutParam = (found: ErrorResponse) => param === undefined || found.field === param
  return error instanceof ErrorResponse && error.code === 'resource_missing' && isAboutParam(error)
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
