// Deadlines and retries of provider calls.
import { setTimeout as sleep } from 'node:timers/promises'
import { ownRateLimitCode, type Pace } from './pacing.ts'
import { ProviderError, type RateLimit } from './provider.ts'

/**
 * Waits for shared work for a limited time. The work itself continues for other callers.
 * @param onTimeout returns the result after the timeout; may throw
 * @throws the errors of `work` and `onTimeout`
 */
export async function withDeadline<Value>(ms: number, work: Promise<Value>, onTimeout: () => Value): Promise<Value> {
  const { promise: over, resolve } = Promise.withResolvers<'over'>()
  const timer = setTimeout(() => resolve('over'), Math.max(0, ms))
  try {
    const first = await Promise.race([work.then((value) => ({ value })), over])
    return first === 'over' ? onTimeout() : first.value
  } finally {
    clearTimeout(timer)
  }
}

const defaultMaxRetries = 2
const firstPauseMs = 200
/** The longest backoff of our own after a throttled call. The provider may request a longer one. */
const maxBackoffMs = 4_000
/** With less time left, another attempt would only time out. */
const minAttemptMs = 250

export type RetryOptions = {
  /** For all attempts together. */
  readonly timeoutMs: number
  readonly pace: Pick<Pace, 'pause' | 'patienceMs'>
  /** How often a call is retried after a lost response: 0 when it is not idempotent. */
  readonly maxRetries?: number
}

/**
 * Retries a provider call. A throttled call certainly did nothing, so it is retried until the time is over; if the
 * provider requests a later retry, once more at the end. A background call is retried for `patienceMs`, and each
 * attempt then has the full timeout. A call whose response was lost is retried a few times.
 *
 * Once a response was lost, the outcome stays unknown, even if a later attempt does not reach the provider.
 * @param call gets its remaining time in ms; throws ProviderError
 * @throws ProviderError
 */
export async function withRetries<Result>(
  { timeoutMs, pace, maxRetries = defaultMaxRetries }: RetryOptions,
  call: (remainingMs: number) => Promise<Result>,
): Promise<Result> {
  const throttledRetryUntil = performance.now() + pace.patienceMs()
  let giveUpAt = performance.now() + timeoutMs
  let lostError: ProviderError | undefined
  let throttledError: ProviderError | undefined
  for (let [losses, throttles] = [0, 0]; ; ) {
    try {
      return await call(giveUpAt - performance.now())
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      const { kind, rateLimit, code } = error
      const leftMs = giveUpAt - performance.now() - minAttemptMs
      if (code === ownRateLimitCode) throw lostError ?? throttledError ?? error
      if (rateLimit !== null) {
        throttledError = error
        const pauseMs = pauseAfter(rateLimit, throttles++)
        pace.pause(pauseMs)
        const isPatient = performance.now() + pauseMs < throttledRetryUntil
        if (!isPatient && leftMs <= 0) throw lostError ?? error
        await sleep(isPatient ? pauseMs : Math.min(pauseMs, leftMs))
        if (isPatient) giveUpAt = performance.now() + timeoutMs
      } else {
        if (kind === 'unavailable' && lostError) throw lostError
        if (kind !== 'unknown') throw error
        lostError = error
        const pauseMs = firstPauseMs * 2 ** losses
        if (losses++ === maxRetries || leftMs < pauseMs) throw error
        await sleep(pauseMs)
      }
    }
  }
}

/** Adds up to 50 % jitter, so that retries do not come all at once. */
function pauseAfter({ retryAfterMs }: RateLimit, throttles: number): number {
  const ownMs = Math.min(firstPauseMs * 2 ** throttles, maxBackoffMs)
  return Math.max(retryAfterMs ?? 0, ownMs) * (1 + Math.random() / 2)
}
