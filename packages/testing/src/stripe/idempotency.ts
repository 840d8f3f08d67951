// Idempotency keys as Stripe keeps them. https://docs.stripe.com/api/idempotent_requests
import { StripeApiError } from './refusal.ts'

export type StripeOutcome = {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly replayed?: boolean
}

export type IdempotencyKeys = {
  /**
   * The outcome that is kept under a key, for exactly the same request.
   * @throws StripeRefusal when the key belongs to another request, or its first request is still at work
   */
  find(key: string, request: string): StripeOutcome | undefined
  /** Until `release`, another request with this key is told to wait. */
  hold(key: string, request: string): void
  release(key: string): void
  /** Keeps an outcome, whatever it is. */
  keep(key: string, request: string, outcome: StripeOutcome): void
}

const keptMs = 24 * 60 * 60 * 1000

export function createIdempotencyKeys(now: () => Date): IdempotencyKeys {
  const kept = new Map<string, { readonly request: string; readonly outcome: StripeOutcome; readonly at: number }>()
  const held = new Map<string, string>()
  return {
    find(key, request) {
      const entry = kept.get(key)
      const isKept = entry !== undefined && now().getTime() - entry.at < keptMs
      const first = held.get(key) ?? (isKept ? entry.request : request)
      if (first !== request)
        throw new StripeApiError(400, {
          type: 'idempotency_error',
          message: `Keys for idempotent requests can only be used with the same parameters: '${key}'.`,
        })
      if (held.has(key))
        throw new StripeApiError(409, {
          type: 'idempotency_error',
          code: 'idempotency_key_in_use',
          message: `There is another request in progress with this key: ${key}.`,
        })
      return isKept ? { ...entry.outcome, replayed: true } : undefined
    },
    hold: (key, request) => void held.set(key, request),
    release: (key) => void held.delete(key),
    keep: (key, request, outcome) => void kept.set(key, { request, outcome, at: now().getTime() }),
  }
}
