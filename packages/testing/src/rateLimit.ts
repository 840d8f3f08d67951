// How many calls a second a fake provider takes.

export type FakeRateLimit = {
  /** @param limit without one, all calls are taken; `retryAfter` is the header that comes with a 429, if any does */
  set(limit: { readonly perSecond: number; readonly retryAfter?: string } | null): void
  /** Counts a call. @returns the headers of its 429 when it is one too many, else nothing */
  take(): Readonly<Record<string, string>> | undefined
  /** How many calls were turned away. */
  rejected(): number
}

export function createFakeRateLimit(): FakeRateLimit {
  let limit: Parameters<FakeRateLimit['set']>[0] = null
  let taken: number[] = []
  let rejected = 0
  return {
    set(next) {
      limit = next
    },
    take() {
      if (limit === null) return undefined
      const now = performance.now()
      taken = taken.filter((at) => now - at < 1_000)
      if (taken.length < limit.perSecond) {
        taken.push(now)
        return undefined
      }
      rejected++
      return limit.retryAfter === undefined ? {} : { 'retry-after': limit.retryAfter }
    },
    rejected: () => rejected,
  }
}
