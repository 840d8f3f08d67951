// What PayPal's refusals mean: its error body, and which kind of error each issue is.

import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse } from '../http.ts'
import { ownRateLimitCode, type Pace, withPriority } from '../pacing.ts'
import { ProviderError, type RateLimit } from '../provider.ts'
import { parseJson, rateLimitIn } from '../responses.ts'
import { withDeadline, withRetries } from '../retries.ts'

/** A definite no: PayPal has understood the request and did nothing. */
export type PaypalRejection = {
  readonly status: number
  /** `UNPROCESSABLE_ENTITY`, `RESOURCE_NOT_FOUND`, … */
  readonly name: string
  /** The first of the details: `INSTRUMENT_DECLINED`, …; the name when there are none. */
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

/** The payer cannot pay like this; another means, or another payer, may. */
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

/** The same request is being worked on elsewhere, so what becomes of it is not known yet. */
const inFlight: ReadonlySet<string> = new Set([
  'DUPLICATE_REQUEST_ID',
  'ORDER_COMPLETION_IN_PROGRESS',
  'PREVIOUS_REQUEST_IN_PROGRESS',
])

const aboutCurrency = /^(CURRENCY_NOT_SUPPORTED|INVALID_CURRENCY_CODE|DECIMAL|MAX_VALUE_EXCEEDED)/

export const isDecline = ({ issue }: PaypalRejection): boolean => declines.has(issue)

/**
 * What an answer other than a success refuses.
 * @throws ProviderError `unavailable` when PayPal surely did nothing and may do it later; `unknown` when nobody can tell
 */
function rejectionIn(answer: HttpResponse): PaypalRejection {
  const { status } = answer
  if (status === 401 || status === 403) throw callError('unavailable', `status_${status}`)
  if (status === 429) throw callError('unavailable', 'rate_limited', rateLimitIn(answer.headers))
  const body = parseJson(answer.text)
  if (status < 400 || status > 499 || !errorBody.Check(body)) throw callError('unknown', `status_${status}`)
  const [detail] = body.details ?? []
  const issue = detail?.issue !== undefined && word.Check(detail.issue) ? detail.issue : body.name
  if (status === 408 || status === 409 || inFlight.has(issue)) throw callError('unknown', issue.toLowerCase())
  return { status, name: body.name, issue, field: detail?.field ?? null }
}

/** The error that a refusal is for whoever made the call. */
export function rejectionError(refusal: PaypalRejection): ProviderError {
  const code = refusal.issue.toLowerCase()
  if (isDecline(refusal)) return new ProviderError('declined', code, 'PayPal declined the payment')
  if (aboutCurrency.test(refusal.issue) || refusal.field?.endsWith('currency_code'))
    return new ProviderError('currency', code, 'PayPal does not take this amount in this currency')
  return new ProviderError('rejected', code, 'PayPal refused the request')
}

function callError(kind: 'unavailable' | 'unknown', code: string, rateLimit: RateLimit | null = null): ProviderError {
  const message = kind === 'unavailable' ? 'PayPal does not serve us now' : 'PayPal gave no clear answer'
  return new ProviderError(kind, code, message, { rateLimit })
}

// The keys of the calls that make something in the catalogue.

/**
 * The `PayPal-Request-Id` of a request. PayPal forgets it after 72 hours, and does not say what a known one gets that
 * comes with another content: so another content has another key.
 * @param idempotency_key of any length; PayPal's documented limit, for orders, is 108 characters
 */
export function requestKeyOf(idempotency_key: string, body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([idempotency_key, body]))
    .digest('hex')
}

// The token that PayPal gives for our credentials, kept as long as it is good for.

export type AccessTokens = {
  /** @throws ProviderError `unavailable`: without a token nothing has been asked of PayPal */
  get(timeoutMs: number): Promise<string>
  /** PayPal refused this token, so the next call asks for another. */
  drop(token: string): void
}

const TokenResponse = Type.Object({
  access_token: Type.String({ pattern: '^[\\x21-\\x7e]+$' }),
  expires_in: Type.Number({ exclusiveMinimum: 0 }),
})
const tokenResponse = Compile(TokenResponse)

/** So long before its end a token is not used any more: a call may be on its way for a while. */
const marginMs = 60_000

/** @param options `timeoutMs` of one question for a token, which all who wait for one share */
export function createAccessTokens(options: {
  readonly http: HttpClient
  readonly clientId: string
  readonly clientSecret: string
  readonly timeoutMs: number
}): AccessTokens {
  let known: { readonly token: string; readonly goodUntil: number } | undefined
  let refreshing: Promise<string> | undefined

  async function refresh(): Promise<string> {
    const requestedAt = performance.now()
    const { access_token, expires_in } = await fetchToken(options)
    const lifetimeMs = expires_in * 1000
    known = { token: access_token, goodUntil: requestedAt + lifetimeMs - Math.min(marginMs, lifetimeMs / 2) }
    return access_token
  }

  const goodToken = () => (known && performance.now() < known.goodUntil ? known.token : undefined)

  return {
    async get(timeoutMs) {
      const giveUpAt = performance.now() + timeoutMs
      const joined = goodToken() === undefined ? refreshing : undefined
      // A question that others asked earlier may fail for a reason that is gone by now.
      if (joined) await withDeadline(timeoutMs, joined, throwTokenTimeout).catch(() => undefined)
      const token = goodToken()
      if (token !== undefined) return token
      // Payers may wait for it as well.
      refreshing ??= withPriority('payer', refresh).finally(() => {
        refreshing = undefined
      })
      return withDeadline(giveUpAt - performance.now(), refreshing, throwTokenTimeout)
    },
    drop(token) {
      if (known?.token === token) known = undefined
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
  return new ProviderError('unavailable', code, 'PayPal gave no access', { cause, rateLimit })
}

// Calls to PayPal's API: with a token, with a key, and again when one was throttled or an answer was lost.

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
        return isSuccess
          ? { rejection: null, value: read(answer) }
          : { rejection: rejectionIn(answer), response: answer }
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
