// Keeps this process's calls to one provider below its rate limit. Payers' calls go first.
import { AsyncLocalStorage } from 'node:async_hooks'
import { noteThrottled } from './callWatch.ts'
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

/**
 * Set for work that comes from a queue: it gives its place back while the provider wants a pause, so its calls fail instead
 * of waiting. `pausedMs` is how long the pause lasts, `wasThrottled` whether the provider throttled a call of this work.
 */
export type QueuedWork = { pausedMs: number; wasThrottled: boolean }

const current = new AsyncLocalStorage<{ readonly priority: CallPriority; readonly queued: QueuedWork | undefined }>()
const currentPriority = () => current.getStore()?.priority ?? 'payer'
const currentQueued = () => current.getStore()?.queued

/** Runs `work` with this priority for its provider calls. */
export function withPriority<Result>(priority: CallPriority, work: () => Result, queued?: QueuedWork): Result {
  return current.run({ priority, queued }, work)
}

/** Whether a call that the provider throttles fails at once, because its work comes from a queue. */
export const failsWhenThrottled = (): boolean => currentQueued() !== undefined

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
  /** How long work from a queue has to wait before its calls can start; 0 unless the provider wants a longer pause. */
  pausedMs(): number
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
/** Work from a queue waits for shorter pauses than this: it would not be looked at again earlier. */
const shortPauseMs = 1_000
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

  function pausedMs(): number {
    const leftMs = laneOf(lanes, currentPriority()).pausedUntil - performance.now()
    return leftMs > shortPauseMs ? leftMs : 0
  }

  function advance(): void {
    const now = performance.now()
    starts = limit === Number.POSITIVE_INFINITY ? [] : starts.filter((at) => now - at < windowMs)
    for (const lane of lanes)
      for (const call of lane.waiting) {
        if (now < earliest(lane)) break
        lane.waiting.delete(call)
        starts.push(now)
        if (lane.priority !== 'payer') lastOthersStart = now
        call.start()
      }
    clearTimeout(timer)
    const next = Math.min(...lanes.filter(({ waiting }) => waiting.size > 0).map(earliest))
    if (next < Number.POSITIVE_INFINITY) timer = setTimeout(advance, Math.ceil(next - now))
  }

  return {
    async acquire() {
      const { waiting } = laneOf(lanes, currentPriority())
      const queued = currentQueued()
      if (queued && pausedMs() > 0) throw pausedError(queued, pausedMs())
      const isPatient = currentPatienceMs() > 0
      const longestMs = isPatient ? currentPatienceMs() : remainingMs() / 2
      // Fail at once when the queue is too long for the call to start in time.
      if ((waiting.size / limit) * windowMs > longestMs) throw ownRateLimitError()
      const waitingSince = performance.now()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const call: WaitingCall = { start: resolve, fail: reject, queued }
      waiting.add(call)
      advance()
      const giveUp = setTimeout(() => waiting.delete(call) && reject(ownRateLimitError()), longestMs)
      await promise.finally(() => clearTimeout(giveUp))
      if (isPatient) extendTimeLimit(performance.now() - waitingSince)
    },
    pause(ms) {
      const queued = currentQueued()
      noteThrottled()
      const until = performance.now() + Math.min(ms, maxPauseMs)
      const { priority } = laneOf(lanes, currentPriority())
      const pausedLanes = lanes.slice(Math.max(1, priorities.indexOf(priority)))
      for (const lane of pausedLanes) {
        lane.pausedUntil = Math.max(lane.pausedUntil, until)
        giveBack(lane)
      }
      if (queued) Object.assign(queued, { wasThrottled: true, pausedMs: ms })
    },
    pausedMs,
    patienceMs: currentPatienceMs,
  }
}

type WaitingCall = {
  readonly start: () => void
  readonly fail: (error: ProviderError) => void
  readonly queued: QueuedWork | undefined
}

/** The calls of one priority that wait for their turn. A throttled priority pauses its lane alone. */
type Lane = { readonly priority: CallPriority; pausedUntil: number; readonly waiting: Set<WaitingCall> }

/** Calls of work from a queue do not wait for a pause. */
function giveBack({ waiting, pausedUntil }: Lane): void {
  const leftMs = pausedUntil - performance.now()
  if (leftMs <= shortPauseMs) return
  for (const call of waiting) if (call.queued && waiting.delete(call)) call.fail(pausedError(call.queued, leftMs))
}

function laneOf(lanes: readonly Lane[], priority: CallPriority): Lane {
  const lane = lanes.find((each) => each.priority === priority)
  if (!lane) throw new Error(`No lane for ${priority}`)
  return lane
}

function pausedError(queued: QueuedWork, pausedMs: number): ProviderError {
  queued.pausedMs = pausedMs
  return ownRateLimitError()
}

function ownRateLimitError(): ProviderError {
  const message = 'Too many requests to the provider at the moment'
  return new ProviderError('unavailable', ownRateLimitCode, message, { rateLimit: { retryAfterMs: null } })
}
