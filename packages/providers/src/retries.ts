// Waits for what others wait for as well, and no longer than one's own time allows.
import { setTimeout as sleep } from 'node:timers/promises'
import { ownRateLimitCode, type Pace } from './pacing.ts'
import { ProviderError, type RateLimit } from './provider.ts'

/**
 * @param late what comes in its place when the time is over; it may throw. The work goes on for the others
 * @throws what the work and `late` throw
 */
export async function withDeadline<Value>(ms: number, work: Promise<Value>, late: () => Value): Promise<Value> {
  const { promise: over, resolve } = Promise.withResolvers<'over'>()
  const timer = setTimeout(() => resolve('over'), Math.max(0, ms))
  try {
    const first = await Promise.race([work.then((value) => ({ value })), over])
    return first === 'over' ? late() : first.value
  } finally {
    clearTimeout(timer)
  }
}

// Makes a call to a provider again when it was throttled or its answer was lost, within one limit of time.

const defaultMaxRetries = 2
const firstPauseMs = 200
/** Longest of our own pauses after a call that was throttled; the provider may name a longer one. */
const maxBackoffMs = 4_000
/** With less time than this left a further try would only be cut off. */
const minAttemptMs = 250

export type RetryOptions = {
  /** For all tries together. */
  readonly timeoutMs: number
  readonly pace: Pick<Pace, 'pause' | 'patienceMs'>
  /** How often a call is made again whose answer was lost: 0 for one whose repetition is not the same call. */
  readonly maxRetries?: number
}

/**
 * Calls until there is an answer. A throttled call surely did nothing: it is made again until the time is over, at the last
 * moment when the provider names a later one. When nobody waits for it, it goes on for as long as the pace has patience, and
 * each further try has all the time. A call whose answer was lost is made again a few times.
 *
 * Once a try was lost nobody knows whether it took effect, and that a later one did not reach the provider says nothing
 * about that: the outcome stays unknown.
 * @param call gets the time that is left for it, in ms; throws ProviderError
 * @throws ProviderError
 */
export async function withRetries<Result>(
  { timeoutMs, pace, maxRetries = defaultMaxRetries }: RetryOptions,
  call: (remainingMs: number) => Promise<Result>,
): Promise<Result> {
  const throttledRetryUntil = performance.now() + pace.patienceMs()
  let giveUpAt = performance.now() + timeoutMs
  let lost: ProviderError | undefined
  let throttled: ProviderError | undefined
  for (let [losses, throttles] = [0, 0]; ; ) {
    try {
      return await call(giveUpAt - performance.now())
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      const { kind, rateLimit, code } = error
      const leftMs = giveUpAt - performance.now() - minAttemptMs
      if (code === ownRateLimitCode) throw lost ?? throttled ?? error
      if (rateLimit !== null) {
        throttled = error
        const pauseMs = pauseAfter(rateLimit, throttles++)
        pace.pause(pauseMs)
        const isPatient = performance.now() + pauseMs < throttledRetryUntil
        if (!isPatient && leftMs <= 0) throw lost ?? error
        await sleep(isPatient ? pauseMs : Math.min(pauseMs, leftMs))
        if (isPatient) giveUpAt = performance.now() + timeoutMs
      } else {
        if (kind === 'unavailable' && lost) throw lost
        if (kind !== 'unknown') throw error
        lost = error
        const pauseMs = firstPauseMs * 2 ** losses
        if (losses++ === maxRetries || leftMs < pauseMs) throw error
        await sleep(pauseMs)
      }
    }
  }
}

/** With up to a half more, so that not all come back at once. */
function pauseAfter({ retryAfterMs }: RateLimit, throttles: number): number {
  const ownMs = Math.min(firstPauseMs * 2 ** throttles, maxBackoffMs)
  return Math.max(retryAfterMs ?? 0, ownMs) * (1 + Math.random() / 2)
}
