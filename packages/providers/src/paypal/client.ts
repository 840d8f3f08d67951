// PayPal's API: errors, idempotency keys and access tokens. https://developer.paypal.com/api/rest/responses/

import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { notingCredentials, refusalText } from '../callWatch.ts'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse } from '../http.ts'
import { ownRateLimitCode, type Pace, withPriority } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind, type RateLimit } from '../provider.ts'
import {
  createProviderApi,
  type ErrorReader,
  ErrorResponse,
  nullIf,
  type ProviderApi,
  readResponse,
} from '../providerApi.ts'
import { parseJson, rateLimitIn } from '../responses.ts'
import { waitForShared, withinTimeLimit, withTimeLimit } from '../timeLimit.ts'

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

/**
 * The code of a rejection is PayPal's issue, such as `instrument_declined`, and its field a JSON pointer.
 * @returns `unavailable` when PayPal certainly did nothing and a retry may succeed
 */
const errorIn: ErrorReader = (response) => {
  const { status, headers, body } = response
  if (status >= 200 && status <= 299) return null
  if (status === 401 || status === 403) return callError('unavailable', `status_${status}`)
  if (status === 429) return callError('unavailable', 'rate_limited', rateLimitIn(headers))
  if (status < 400 || status > 499 || !errorBody.Check(body)) return callError('unknown', `status_${status}`)
  const { issue, field } = body.details?.[0] ?? {}
  const name = word.Check(issue) ? issue : body.name
  const code = name.toLowerCase()
  if (status === 408 || status === 409 || inFlight.has(name)) return callError('unknown', code)
  const isAboutCurrency = aboutCurrency.test(name) || field?.endsWith('currency_code')
  const kind = declines.has(name) ? 'declined' : isAboutCurrency ? 'currency' : 'rejected'
  return new ErrorResponse(kind, code, messages[kind], { response, field })
}

const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'PayPal declined the payment',
  rejected: 'PayPal rejected the request',
  currency: 'PayPal does not accept this amount in this currency',
  unavailable: 'PayPal is not available',
  unknown: 'PayPal sent no clear response',
}

function callError(kind: 'unavailable' | 'unknown', code: string, rateLimit: RateLimit | null = null): ProviderError {
  return new ProviderError(kind, code, messages[kind], { rateLimit })
}

/** For reading an object that PayPal may not know. */
export const nullIfMissing = nullIf(({ status }) => status === 404)

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
  get(): Promise<string>
  /** Forgets a token that PayPal rejected, so that the next call requests another. */
  drop(token: string): void
}

const TokenResponse = Type.Object({
  access_token: Type.String({ pattern: '^[\\x21-\\x7e]+$' }),
  expires_in: Type.Number({ exclusiveMinimum: 0 }),
})
const tokenResponse = Compile(TokenResponse)
const refusedToken = Compile(Type.Object({ error_description: Type.String() }))

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
    async get() {
      const joined = validToken() === undefined ? refreshing : undefined
      // A failure of an earlier call's request is ignored: its cause may be gone, so we request a token ourselves.
      if (joined) await waitForShared(joined, throwTokenTimeout).catch(() => undefined)
      const token = validToken()
      if (token !== undefined) return token
      // Payers' calls may be waiting for the same token.
      refreshing ??= withTimeLimit(options.timeoutMs, () => withPriority('payer', refresh)).finally(() => {
        refreshing = undefined
      })
      return waitForShared(refreshing, throwTokenTimeout)
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
    })
  } catch (cause) {
    if (cause instanceof ProviderError && cause.code === ownRateLimitCode) throw cause
    throw tokenError('token_not_answered', cause)
  }
  const { status, text, headers } = response
  if (status === 429) throw tokenError('token_rate_limited', undefined, { rateLimit: rateLimitIn(headers) })
  const parsed = parseJson(text)
  if (status === 400 || status === 401 || status === 403) {
    const { error_description: said } = refusedToken.Check(parsed) ? parsed : { error_description: `status ${status}` }
    throw tokenError('credentials_refused', undefined, { refusal: refusalText(said) })
  }
  if (status !== 200 || !tokenResponse.Check(parsed)) throw tokenError(`token_status_${status}`)
  return parsed
}

function throwTokenTimeout(): never {
  throw tokenError('token_not_answered')
}

function tokenError(
  code: string,
  cause?: unknown,
  why: { readonly rateLimit?: RateLimit; readonly refusal?: string } = {},
): ProviderError {
  return new ProviderError('unavailable', code, 'PayPal did not grant access', { cause, ...why })
}

export type PaypalRequest = {
  readonly method: HttpRequest['method']
  readonly path: string
  /**
   * The `PayPal-Request-Id`: a repeated one returns the first call's result. Every POST that creates something has one.
   */
  readonly key?: string
  /** JSON. */
  readonly body?: string
}

export type PaypalApi = ProviderApi<PaypalRequest> & {
  /** Asks for a new access token. @throws ProviderError */
  authenticate(): Promise<void>
}

/** The response to a request that has no result. */
export const noContent = Compile(Type.Unknown())

/**
 * @param options `apiBase`: an origin; `timeoutMs`: for all attempts of one call together; `retries`: whether to repeat
 *   a request whose response was lost; `pace`: shared by all clients of PayPal
 */
export function createPaypalApi(options: {
  readonly clientId: string
  readonly clientSecret: string
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
  readonly maxConnections?: number
  readonly retries?: boolean
}): PaypalApi {
  const http = createHttpClient({ ...options, origin: options.apiBase })
  const tokens = createAccessTokens({ ...options, http })
  const api = createProviderApi<PaypalRequest>(options, {
    async send(request) {
      const token = await tokens.get()
      const response = await http.send(withHeaders(request, token))
      if (response.status !== 401) return readResponse(response, errorIn)
      // PayPal may revoke a token early. It did not process the call.
      tokens.drop(token)
      return readResponse(await http.send(withHeaders(request, await tokens.get())), errorIn)
    },
    isRepeatable: () => options.retries ?? true,
    http,
  })
  return {
    ...api,
    authenticate: () =>
      withinTimeLimit(
        options.timeoutMs,
        async () => void (await notingCredentials(() => fetchToken({ ...options, http }))),
      ),
  }
}

function withHeaders({ key, ...request }: PaypalRequest, token: string): HttpRequest {
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    // Otherwise PayPal leaves most fields out of its response.
    prefer: 'return=representation',
    ...(key === undefined ? {} : { 'paypal-request-id': key }),
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return { ...request, headers }
}
