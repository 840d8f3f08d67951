// Retries of provider requests.
import { setTimeout as sleep } from 'node:timers/promises'
import { failsWhenThrottled, ownRateLimitCode, type Pace } from './pacing.ts'
import { ProviderError, type RateLimit } from './provider.ts'
import { extendTimeLimit, remainingMs } from './timeLimit.ts'

/** After a lost response. */
const maxRetries = 2
const firstPauseMs = 200
/** The longest backoff of our own after a throttled call. The provider may request a longer one. */
const maxBackoffMs = 4_000
/** With less time left, another attempt would only time out. */
const minAttemptMs = 250

/**
 * Repeats a request within the time limit. A throttled one certainly did nothing, so it is repeated until the time is
 * over; if the provider wants to wait longer, once more at the end. The pauses of a background call do not count, for up
 * to `patienceMs`; work from a queue does not wait, and comes back later. A request whose response was lost is repeated a few times, if it is repeatable.
 *
 * Once a response was lost, the outcome stays unknown, even if a later attempt does not reach the provider.
 * @param attempt throws ProviderError
 * @throws ProviderError
 */
export async function withRetries<Result>(
  { pace, isRepeatable }: { readonly pace: Pick<Pace, 'pause' | 'patienceMs'>; readonly isRepeatable: boolean },
  attempt: () => Promise<Result>,
): Promise<Result> {
  const patientUntil = performance.now() + pace.patienceMs()
  let lostError: ProviderError | undefined
  let throttledError: ProviderError | undefined
  for (let [losses, throttles] = [0, 0]; ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      const { kind, rateLimit, code } = error
      const leftMs = remainingMs() - minAttemptMs
      if (code === ownRateLimitCode) throw lostError ?? throttledError ?? error
      if (rateLimit !== null) {
        throttledError = error
        const pauseMs = pauseAfter(rateLimit, throttles++)
        pace.pause(pauseMs)
        if (failsWhenThrottled()) throw lostError ?? error
        const isPatient = performance.now() + pauseMs < patientUntil
        if (!isPatient && leftMs <= 0) throw lostError ?? error
        if (isPatient) extendTimeLimit(pauseMs)
        await sleep(isPatient ? pauseMs : Math.min(pauseMs, leftMs))
      } else {
        if (kind === 'unavailable' && lostError) throw lostError
        if (kind !== 'unknown') throw error
        lostError = error
        const pauseMs = firstPauseMs * 2 ** losses
        if (!isRepeatable || losses++ === maxRetries || leftMs < pauseMs) throw error
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
