// The token that PayPal gives for our credentials, kept as long as it is good for.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { parseJson, rateLimitIn } from '../answers.ts'
import type { HttpResponse, HttpClient } from '../http.ts'
import { ownRateLimitCode, withPriority } from '../pacing.ts'
import { ProviderError, type RateLimit } from '../provider.ts'
import { withDeadline } from '../within.ts'

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
