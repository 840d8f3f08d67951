// How many requests a second the fake Stripe takes. https://docs.stripe.com/rate-limits
import { StripeRefusal } from './refusal.ts'

export type RateLimit = {
  /** @param limit without one, all are taken; `retryAfter` is the header that comes with a 429, if any does */
  set(limit: { readonly perSecond: number; readonly retryAfter?: string } | null): void
  /** Counts a request. @throws StripeRefusal when it is one too many */
  take(): void
  /** How many requests were turned away. */
  refused(): number
}

export function createRateLimit(): RateLimit {
  let limit: { readonly perSecond: number; readonly retryAfter?: string } | null = null
  let taken: readonly number[] = []
  let refused = 0
  return {
    set(next) {
      limit = next
    },
    take() {
      if (limit === null) return
      const now = performance.now()
      taken = taken.filter((at) => now - at < 1000)
      if (taken.length < limit.perSecond) {
        taken = [...taken, now]
        return
      }
      refused++
      throw tooMany(limit.retryAfter)
    },
    refused: () => refused,
  }
}

function tooMany(retryAfter: string | undefined): StripeRefusal {
  const message = 'Testmode request rate limit exceeded, the rate limits in testmode are lower than livemode.'
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return new StripeRefusal(429, { type: 'invalid_request_error', code: 'rate_limit', message }, headers)
}
