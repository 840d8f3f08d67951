// Keeps this process's calls to one provider below its rate limit. Payers' calls go first.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ProviderError } from './provider.ts'
import { extendTimeLimit, remainingMs } from './timeLimit.ts'

/**
 * `payer`: a client waits for the response; the default. `notification`: the provider waits, and anyone can trigger
 * the call. `background`: product sync, and the worker's urgent calls about payments. `reconciler`: checks of unpaid
 * payments.
 */
export type CallPriority = (typeof priorities)[number]

/**
 * Each priority's share of the rate limit. Payers' calls may use all of it in one burst; the others are spread evenly
 * and leave a part free.
 */
const rateShares = { payer: 1, notification: 0.9, background: 0.9, reconciler: 0.5 }
const priorities = ['payer', 'notification', 'background', 'reconciler'] as const

const current = new AsyncLocalStorage<CallPriority>()
const currentPriority = () => current.getStore() ?? 'payer'

/** Runs `work` with this priority for its provider calls. */
export function withPriority<Result>(priority: CallPriority, work: () => Result): Result {
  return current.run(priority, work)
}

const watched = new AsyncLocalStorage<{ wasThrottled: boolean }>()

/** Runs `work` and sets `seen.wasThrottled` when the provider throttles one of its calls, even if the work fails. */
export function watchThrottling<Result>(seen: { wasThrottled: boolean }, work: () => Result): Result {
  return watched.run(seen, work)
}

export type Pace = {
  /**
   * Waits until a call may start. A payer's or notification's call waits at most half of its time: starting later, it
   * would probably time out with an unknown outcome. The wait of a background call does not count as its time.
   * @throws ProviderError `unavailable` with the code `ownRateLimitCode`
   */
  acquire(): Promise<void>
  /**
   * Call when the provider throttled a call. Pauses calls of the same and of lower priorities, but never payers' calls.
   */
  pause(ms: number): void
  /**
   * How long a call at the current priority waits for the rate limit and retries while throttled, in ms. 0 for payers'
   * calls and notifications.
   */
  patienceMs(): number
}

/** ProviderError code: we did not send the call, to stay below the provider's rate limit. */
export const ownRateLimitCode = 'own_rate_limit'

/** A little more than a second, because network delay varies. */
const windowMs = 1_050
/** Upper limit for a longer `retry-after` of the provider. */
const maxPauseMs = 30_000
const defaultPatienceMs = 60_000

/**
 * @param options `perSecond`: calls that may start within a second; 0 for no limit. `patienceMs`: see `Pace`
 */
export function createPace({
  perSecond,
  patienceMs = defaultPatienceMs,
}: {
  readonly perSecond: number
  readonly patienceMs?: number
}): Pace {
  const limit = perSecond === 0 ? Number.POSITIVE_INFINITY : perSecond
  const lanes = priorities.map((priority): Lane => ({ priority, pausedUntil: 0, waiting: new Set() }))
  /** Start times of the calls in the current window. */
  let starts: number[] = []
  let lastOthersStart = 0
  let timer: NodeJS.Timeout | undefined

  const currentPatienceMs = () => (['background', 'reconciler'].includes(currentPriority()) ? patienceMs : 0)

  /** The earliest time at which the next call of a lane may start. */
  function earliest({ priority, pausedUntil }: Lane): number {
    const fullUntil = starts.length < limit ? 0 : Number(starts[starts.length - limit]) + windowMs
    if (priority === 'payer') return fullUntil
    return Math.max(fullUntil, pausedUntil, lastOthersStart + windowMs / limit / rateShares[priority])
  }

  function advance(): void {
    const now = performance.now()
    starts = limit === Number.POSITIVE_INFINITY ? [] : starts.filter((at) => now - at < windowMs)
    for (const lane of lanes)
      for (const start of lane.waiting) {
        if (now < earliest(lane)) break
        lane.waiting.delete(start)
        starts.push(now)
        if (lane.priority !== 'payer') lastOthersStart = now
        start()
      }
    clearTimeout(timer)
    const next = Math.min(...lanes.filter(({ waiting }) => waiting.size > 0).map(earliest))
    if (next < Number.POSITIVE_INFINITY) timer = setTimeout(advance, Math.ceil(next - now))
  }

  return {
    async acquire() {
      const { waiting } = laneOf(lanes, currentPriority())
      const isPatient = currentPatienceMs() > 0
      const longestMs = isPatient ? currentPatienceMs() : remainingMs() / 2
      // Fail at once when the queue is too long for the call to start in time.
      if ((waiting.size / limit) * windowMs > longestMs) throw ownRateLimitError()
      const waitingSince = performance.now()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.add(resolve)
      advance()
      const giveUp = setTimeout(() => waiting.delete(resolve) && reject(ownRateLimitError()), longestMs)
      await promise.finally(() => clearTimeout(giveUp))
      if (isPatient) extendTimeLimit(performance.now() - waitingSince)
    },
    pause(ms) {
      const seen = watched.getStore()
      if (seen) seen.wasThrottled = true
      const until = performance.now() + Math.min(ms, maxPauseMs)
      const { priority } = laneOf(lanes, currentPriority())
      const pausedLanes = lanes.slice(Math.max(1, priorities.indexOf(priority)))
      for (const lane of pausedLanes) lane.pausedUntil = Math.max(lane.pausedUntil, until)
    },
    patienceMs: currentPatienceMs,
  }
}

type Lane = { readonly priority: CallPriority; pausedUntil: number; readonly waiting: Set<() => void> }

function laneOf(lanes: readonly Lane[], priority: CallPriority): Lane {
  const lane = lanes.find((each) => each.priority === priority)
  if (!lane) throw new Error(`No lane for ${priority}`)
  return lane
}

function ownRateLimitError(): ProviderError {
  const message = 'Too many requests to the provider at the moment'
  return new ProviderError('unavailable', ownRateLimitCode, message, { rateLimit: { retryAfterMs: null } })
}
