// PayPal's API client: rejections, idempotency keys, access tokens, and calls with retries.

import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse } from '../http.ts'
import { ownRateLimitCode, type Pace, withPriority } from '../pacing.ts'
import { ProviderError, type RateLimit } from '../provider.ts'
import { parseJson, rateLimitIn } from '../responses.ts'
import { withDeadline, withRetries } from '../retries.ts'

/** PayPal rejected the request and did nothing. */
export type PaypalRejection = {
  readonly status: number
  /** `UNPROCESSABLE_ENTITY`, `RESOURCE_NOT_FOUND`, … */
  readonly name: string
  /** The first detail's issue, such as `INSTRUMENT_DECLINED`; without details the name. */
  readonly issue: string
  readonly field: string | null
}

const Word = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' })
const errorBody = Compile(
  Type.Object({
    name: Word,
    details: Type.Optional(
      Type.Array(Type.Object({ issue: Type.Optional(Type.String()), field: Type.Optional(Type.String()) })),
    ),
  }),
)
const word = Compile(Word)

/** The payment was declined. Another payment method or payer may succeed. */
const declines: ReadonlySet<string> = new Set([
  'ALIAS_DECLINED_BY_PROCESSOR',
  'CARD_BRAND_NOT_SUPPORTED',
  'CARD_CLOSED',
  'CARD_EXPIRED',
  'COMPLIANCE_VIOLATION',
  'DECLINED_DUE_TO_RELATED_TXN',
  'DOMESTIC_TRANSACTION_REQUIRED',
  'INSTRUMENT_DECLINED',
  'MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED',
  'PAYEE_BLOCKED_TRANSACTION',
  'PAYER_ACCOUNT_LOCKED_OR_CLOSED',
  'PAYER_ACCOUNT_RESTRICTED',
  'PAYER_CANNOT_PAY',
  'PAYMENT_DENIED',
  'PAYMENT_SOURCE_CANNOT_BE_USED',
  'PAYMENT_SOURCE_DECLINED_BY_PROCESSOR',
  'REDIRECT_PAYER_FOR_ALTERNATE_FUNDING',
  'REFERENCED_CARD_EXPIRED',
  'TRANSACTION_BLOCKED_BY_PAYEE',
  'TRANSACTION_LIMIT_EXCEEDED',
  'TRANSACTION_RECEIVING_LIMIT_EXCEEDED',
  'TRANSACTION_REFUSED',
])

/** The same request is still being processed, so its outcome is not known yet. */
const inFlight: ReadonlySet<string> = new Set([
  'DUPLICATE_REQUEST_ID',
  'ORDER_COMPLETION_IN_PROGRESS',
  'PREVIOUS_REQUEST_IN_PROGRESS',
])

const aboutCurrency = /^(CURRENCY_NOT_SUPPORTED|INVALID_CURRENCY_CODE|DECIMAL|MAX_VALUE_EXCEEDED)/

export const isDecline = ({ issue }: PaypalRejection): boolean => declines.has(issue)

/**
 * Reads the rejection from an error response.
 * @throws ProviderError `unavailable` when PayPal certainly did nothing and a retry may succeed; `unknown` when the
 *   outcome is unknown
 */
function rejectionIn(response: HttpResponse): PaypalRejection {
  const { status } = response
  if (status === 401 || status === 403) throw callError('unavailable', `status_${status}`)
  if (status === 429) throw callError('unavailable', 'rate_limited', rateLimitIn(response.headers))
  const body = parseJson(response.text)
  if (status < 400 || status > 499 || !errorBody.Check(body)) throw callError('unknown', `status_${status}`)
  const [detail] = body.details ?? []
  const issue = detail?.issue !== undefined && word.Check(detail.issue) ? detail.issue : body.name
  if (status === 408 || status === 409 || inFlight.has(issue)) throw callError('unknown', issue.toLowerCase())
  return { status, name: body.name, issue, field: detail?.field ?? null }
}

/** Converts a rejection to the error that the caller throws. */
export function rejectionError(rejection: PaypalRejection): ProviderError {
  const code = rejection.issue.toLowerCase()
  if (isDecline(rejection)) return new ProviderError('declined', code, 'PayPal declined the payment')
  if (aboutCurrency.test(rejection.issue) || rejection.field?.endsWith('currency_code'))
    return new ProviderError('currency', code, 'PayPal does not accept this amount in this currency')
  return new ProviderError('rejected', code, 'PayPal rejected the request')
}

function callError(kind: 'unavailable' | 'unknown', code: string, rateLimit: RateLimit | null = null): ProviderError {
  const message = kind === 'unavailable' ? 'PayPal is not available' : 'PayPal sent no clear response'
  return new ProviderError(kind, code, message, { rateLimit })
}

/**
 * The `PayPal-Request-Id` of a catalogue request. PayPal forgets it after 72 hours, and does not document what happens
 * to a known id with another body, so the body is part of the key.
 * @param idempotency_key of any length; PayPal's documented limit, for orders, is 108 characters
 */
export function requestKeyOf(idempotency_key: string, body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([idempotency_key, body]))
    .digest('hex')
}

/** Caches the access token until shortly before it expires. */
export type AccessTokens = {
  /** @throws ProviderError `unavailable`: without a token, the call was not sent */
  get(timeoutMs: number): Promise<string>
  /** Forgets a token that PayPal rejected, so that the next call requests another. */
  drop(token: string): void
}

const TokenResponse = Type.Object({
  access_token: Type.String({ pattern: '^[\\x21-\\x7e]+$' }),
  expires_in: Type.Number({ exclusiveMinimum: 0 }),
})
const tokenResponse = Compile(TokenResponse)

/** A token is not used this shortly before it expires, because a call takes time to arrive. */
const marginMs = 60_000

/** @param options `timeoutMs`: of one token request, which all waiting calls share */
export function createAccessTokens(options: {
  readonly http: HttpClient
  readonly clientId: string
  readonly clientSecret: string
  readonly timeoutMs: number
}): AccessTokens {
  let cached: { readonly token: string; readonly validUntil: number } | undefined
  let refreshing: Promise<string> | undefined

  async function refresh(): Promise<string> {
    const requestedAt = performance.now()
    const { access_token, expires_in } = await fetchToken(options)
    const lifetimeMs = expires_in * 1000
    cached = { token: access_token, validUntil: requestedAt + lifetimeMs - Math.min(marginMs, lifetimeMs / 2) }
    return access_token
  }

  const validToken = () => (cached && performance.now() < cached.validUntil ? cached.token : undefined)

  return {
    async get(timeoutMs) {
      const giveUpAt = performance.now() + timeoutMs
      const joined = validToken() === undefined ? refreshing : undefined
      // A failure of an earlier call's request is ignored: its cause may be gone, so we request a token ourselves.
      if (joined) await withDeadline(timeoutMs, joined, throwTokenTimeout).catch(() => undefined)
      const token = validToken()
      if (token !== undefined) return token
      // Payers' calls may be waiting for the same token.
      refreshing ??= withPriority('payer', refresh).finally(() => {
        refreshing = undefined
      })
      return withDeadline(giveUpAt - performance.now(), refreshing, throwTokenTimeout)
    },
    drop(token) {
      if (cached?.token === token) cached = undefined
    },
  }
}

async function fetchToken(options: Parameters<typeof createAccessTokens>[0]): Promise<Static<typeof TokenResponse>> {
  const credentials = Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64')
  let response: HttpResponse
  try {
    response = await options.http.send({
      method: 'POST',
      path: '/v1/oauth2/token',
      headers: {
        accept: 'application/json',
        authorization: `Basic ${credentials}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
      timeoutMs: options.timeoutMs,
    })
  } catch (cause) {
    if (cause instanceof ProviderError && cause.code === ownRateLimitCode) throw cause
    throw tokenError('token_not_answered', cause)
  }
  const { status, text, headers } = response
  if (status === 429) throw tokenError('token_rate_limited', undefined, rateLimitIn(headers))
  if (status === 400 || status === 401 || status === 403) throw tokenError('credentials_refused')
  const parsed = parseJson(text)
  if (status !== 200 || !tokenResponse.Check(parsed)) throw tokenError(`token_status_${status}`)
  return parsed
}

function throwTokenTimeout(): never {
  throw tokenError('token_not_answered')
}

function tokenError(code: string, cause?: unknown, rateLimit: RateLimit | null = null): ProviderError {
  return new ProviderError('unavailable', code, 'PayPal did not grant access', { cause, rateLimit })
}

export type PaypalCall = {
  readonly method: HttpRequest['method']
  readonly path: string
  /**
   * The `PayPal-Request-Id`: a repeated one returns the first call's result. Every POST that creates something has one.
   */
  readonly key?: string
  /** JSON. */
  readonly body?: string
}

/** A success or a rejection. */
export type PaypalResult<Value> =
  | { readonly rejection: null; readonly value: Value }
  | { readonly rejection: PaypalRejection; readonly response: HttpResponse }

export type PaypalClient = {
  /**
   * @param read parses a success. If it throws `unknown`, the call is retried
   * @param timeoutMs for all attempts together
   * @throws ProviderError `unavailable`, `unknown`
   */
  call<Value>(
    call: PaypalCall,
    read: (response: HttpResponse) => Value,
    timeoutMs?: number,
  ): Promise<PaypalResult<Value>>
  /** The default time limit of a call. */
  readonly timeoutMs: number
  close(): Promise<void>
}

/**
 * @param options `apiBase`: an origin; `timeoutMs`: for all attempts of one call together; `retries`: whether to retry
 *   a call whose response was lost; `pace`: shared by all clients of PayPal
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
    const response = await send(token)
    if (response.status !== 401) return response
    // PayPal may revoke a token early. It did not process the call.
    tokens.drop(token)
    return send(await tokens.get(remainingMs()))
  }

  return {
    call(call, read, timeoutMs = options.timeoutMs) {
      const attemptOnce = async (remainingMs: number) => {
        const response = await attempt(call, remainingMs)
        const isSuccess = response.status >= 200 && response.status <= 299
        return isSuccess ? { rejection: null, value: read(response) } : { rejection: rejectionIn(response), response }
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
    // Otherwise PayPal leaves most fields out of its response.
    prefer: 'return=representation',
  }
  if (key !== undefined) headers['paypal-request-id'] = key
  if (body === undefined) return { method, path, headers }
  return { method, path, headers: { ...headers, 'content-type': 'application/json' }, body }
}
