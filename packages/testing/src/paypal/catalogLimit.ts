// How many calls a second the catalog takes.
import { type Answer, rateLimited } from './answers.ts'

export type CatalogLimit = {
  /** @param options `retryAfter` is the header that comes with a 429, if any does */
  set(options: { readonly perSecond: number; readonly retryAfter?: string }): void
  /** @returns the refusal of a call that is one too many; nothing for one that is counted */
  refuse(): Answer | undefined
  /** How many calls were refused. */
  readonly refused: number
}

export function createCatalogLimit(): CatalogLimit {
  let limit: { readonly perSecond: number; readonly retryAfter?: string } | undefined
  let taken: number[] = []
  let refused = 0
  return {
    set(options) {
      limit = options
    },
    refuse() {
      if (!limit) return undefined
      const now = performance.now()
      taken = taken.filter((at) => now - at < 1000)
      if (taken.length >= limit.perSecond) {
        refused++
        return rateLimited(limit.retryAfter)
      }
      taken.push(now)
      return undefined
    },
    get refused() {
      return refused
    },
  }
}
