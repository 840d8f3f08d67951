// The token that PayPal gives for our credentials, kept as long as it is good for.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { parseJson, rateLimitIn } from '../answers.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { noTurn, withUrgency } from '../pacing.ts'
import { ProviderError, type RateLimit } from '../provider.ts'
import { within } from '../within.ts'

export type AccessTokens = {
  /** @throws ProviderError `unavailable`: without a token nothing has been asked of PayPal */
  get(timeoutMs: number): Promise<string>
  /** PayPal refused this token, so the next call asks for another. */
  drop(token: string): void
}

const TokenAnswer = Type.Object({
  access_token: Type.String({ pattern: '^[\\x21-\\x7e]+$' }),
  expires_in: Type.Number({ exclusiveMinimum: 0 }),
})
const tokenAnswer = Compile(TokenAnswer)

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
  let asking: Promise<string> | undefined

  async function ask(): Promise<string> {
    const askedAt = performance.now()
    const { access_token, expires_in } = await askForToken(options)
    const lifetimeMs = expires_in * 1000
    known = { token: access_token, goodUntil: askedAt + lifetimeMs - Math.min(marginMs, lifetimeMs / 2) }
    return access_token
  }

  const goodToken = () => (known && performance.now() < known.goodUntil ? known.token : undefined)

  return {
    async get(timeoutMs) {
      const giveUpAt = performance.now() + timeoutMs
      const joined = goodToken() === undefined ? asking : undefined
      // A question that others asked earlier may fail for a reason that is gone by now.
      if (joined) await within(timeoutMs, joined, tooLate).catch(() => undefined)
      const token = goodToken()
      if (token !== undefined) return token
      // Payers may wait for it as well.
      asking ??= withUrgency('payer', ask).finally(() => {
        asking = undefined
      })
      return within(giveUpAt - performance.now(), asking, tooLate)
    },
    drop(token) {
      if (known?.token === token) known = undefined
    },
  }
}

async function askForToken(options: Parameters<typeof createAccessTokens>[0]): Promise<Static<typeof TokenAnswer>> {
  const credentials = Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64')
  let answer: HttpAnswer
  try {
    answer = await options.http.send({
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
    if (cause instanceof ProviderError && cause.code === noTurn) throw cause
    throw noToken('token_not_answered', cause)
  }
  const { status, text, headers } = answer
  if (status === 429) throw noToken('token_rate_limited', undefined, rateLimitIn(headers))
  if (status === 400 || status === 401 || status === 403) throw noToken('credentials_refused')
  const parsed = parseJson(text)
  if (status !== 200 || !tokenAnswer.Check(parsed)) throw noToken(`token_status_${status}`)
  return parsed
}

function tooLate(): never {
  throw noToken('token_not_answered')
}

function noToken(code: string, cause?: unknown, rateLimit: RateLimit | null = null): ProviderError {
  return new ProviderError('unavailable', code, 'PayPal gave no access', { cause, rateLimit })
}
