// Parsing and checking of provider responses.
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { ProviderError, type RateLimit } from './provider.ts'

/** @throws ProviderError `unknown`: the provider may have done something */
export function checkResponse<Schema extends TSchema>(
  validator: Validator<Record<never, never>, Schema>,
  response: unknown,
): Static<Schema> {
  if (validator.Check(response)) return response
  throw unreadableResponse('unreadable_answer')
}

/** @returns `undefined` for invalid JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Parses JSON and keeps every number as its text, so that decimal amounts stay exact and ids may be numbers or text.
 * @returns `undefined` for invalid JSON
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    )
  } catch {
    return undefined
  }
}

/** The error for a response in an unexpected form. */
export function unreadableResponse(code: string): ProviderError {
  return new ProviderError('unknown', code, 'The provider sent an unreadable response')
}

/** For lookups: an object whose id the provider rejects is none that it knows. */
export function nullIfRejected(error: unknown): null {
  if (error instanceof ProviderError && error.kind === 'rejected') return null
  throw error
}

/** The provider's time of the response, ISO 8601, from its `date` header; our time without a valid one. */
export function respondedAt({ date }: { readonly date?: string | undefined }): string {
  const time = Date.parse(date ?? '')
  return (Number.isNaN(time) ? new Date() : new Date(time)).toISOString()
}

/** Reads the `retry-after` header of a 429: seconds or a date. */
export function rateLimitIn({ 'retry-after': after = '' }: { readonly 'retry-after'?: string | undefined }): RateLimit {
  if (/^\d{1,9}$/.test(after)) return { retryAfterMs: Number(after) * 1_000 }
  // Only text with letters is a date: Date.parse would read other numbers as years.
  const time = /[a-z]/i.test(after) ? Date.parse(after) : Number.NaN
  return { retryAfterMs: Number.isNaN(time) ? null : Math.max(0, time - Date.now()) }
}
