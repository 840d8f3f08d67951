// What a provider's responses to one call show besides its result.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ProviderError } from './provider.ts'

export type SeenInCall = {
  /** Whether the provider throttled a request, even if the call succeeded later. */
  wasThrottled: boolean
  /** Whether the provider accepted our credentials, and else what it said; undefined when no request shows it. */
  credentials?: 'accepted' | { readonly refusal: string }
}

const watched = new AsyncLocalStorage<SeenInCall>()

/** Runs a call and writes into `seen` what its requests show, even if the call fails. */
export function watchCall<Result>(seen: SeenInCall, call: () => Result): Result {
  return watched.run(seen, call)
}

export function noteThrottled(): void {
  const seen = watched.getStore()
  if (seen) seen.wasThrottled = true
}

/** Runs a request with our credentials: its result shows that they are accepted, an error with a `refusal` that they are not. */
export async function notingCredentials<Result>(request: () => Promise<Result>): Promise<Result> {
  const seen = watched.getStore()
  try {
    const result = await request()
    if (seen) seen.credentials = 'accepted'
    return result
  } catch (error) {
    if (seen && error instanceof ProviderError && error.refusal !== null) seen.credentials = { refusal: error.refusal }
    throw error
  }
}

const maxLength = 200

/** A key or a part of one: too long for a word, with a digit, or with asterisks in place of what is masked. */
const mayBeSecret = (word: string) => word.length > 24 || (word.length > 7 && /\d/.test(word)) || word.includes('*')

/** What a provider said, as the `refusal` of an error: one short line, without anything that may be a secret. */
export function refusalText(said: string): string {
  const words = said.slice(0, 10 * maxLength).split(/[\s\p{C}]+/u)
  const text = words.map((word) => (mayBeSecret(word) ? '…' : word)).join(' ')
  return text.trim().slice(0, maxLength) || 'no reason given'
}
