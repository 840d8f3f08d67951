// Answers of providers are used in the shape that is expected and in no other.
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { ProviderError, type RateLimit } from './provider.ts'

/** @throws ProviderError `unknown`: the provider did something, and nobody can tell what */
export function checkResponse<Schema extends TSchema>(
  validator: Validator<Record<never, never>, Schema>,
  response: unknown,
): Static<Schema> {
  if (validator.Check(response)) return response
  throw unreadableResponse('unreadable_answer')
}

/** @returns `undefined` for what is no JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a provider did not say in a form that we know. */
export function unreadableResponse(code: string): ProviderError {
  return new ProviderError('unknown', code, 'The provider answered something that cannot be read')
}

/** The provider's clock when it answered, ISO 8601; ours when its `date` says nothing. */
export function respondedAt({ date }: { readonly date?: string | undefined }): string {
  const time = Date.parse(date ?? '')
  return (Number.isNaN(time) ? new Date() : new Date(time)).toISOString()
}

/** What the headers of a 429 say: `retry-after` in seconds, or as a date. */
export function rateLimitIn({ 'retry-after': after = '' }: { readonly 'retry-after'?: string | undefined }): RateLimit {
  if (/^\d{1,9}$/.test(after)) return { retryAfterMs: Number(after) * 1_000 }
  // A date has words; Date.parse would read other numbers as years.
  const time = /[a-z]/i.test(after) ? Date.parse(after) : Number.NaN
  return { retryAfterMs: Number.isNaN(time) ? null : Math.max(0, time - Date.now()) }
}
