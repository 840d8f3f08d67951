// Keeps all calls of this process to one provider below its rate limit. Payers' calls start first.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ProviderError } from './provider.ts'

/**
 * `payer`: a client waits for the response; the default. `notification`: the provider waits for it, and anybody can cause
 * one. `background`: the catalogue, and payments in the worker that cannot wait. `reconciler`: questions about payments that
 * nobody paid yet.
 */
export type CallPriority = (typeof priorities)[number]

/**
 * The most urgent first, each with its share of the turns. Payers' calls may take all turns at once; all others are spread
 * evenly, and always leave some.
 */
const rateShares = { payer: 1, notification: 0.9, background: 0.9, reconciler: 0.5 }
const priorities = ['payer', 'notification', 'background', 'reconciler'] as const

const current = new AsyncLocalStorage<CallPriority>()
const currentPriority = () => current.getStore() ?? 'payer'

/** Runs work whose calls to providers have this urgency. */
export function withPriority<Result>(urgency: CallPriority, work: () => Result): Result {
  return current.run(urgency, work)
}

const watched = new AsyncLocalStorage<{ wasThrottled: boolean }>()

/** Runs work, and notes in `seen` when the provider throttles one of its calls, however the work ends. */
export function watchThrottling<Result>(seen: { wasThrottled: boolean }, work: () => Result): Result {
  return watched.run(seen, work)
}

export type Pace = {
  /**
   * Waits until a call may start: for half of its time at most, since a call that starts late is cut off, and nobody knows
   * its outcome. When nobody waits for the call, its time begins with its turn.
   * @param ms the call's time
   * @returns what is left of it
   * @throws ProviderError `unavailable` with the code `noTurn`
   */
  acquire(ms: number): Promise<number>
  /** The provider throttled a call: calls of its urgency and of those behind it pause. Payers' calls never do. */
  pause(ms: number): void
  /** How long a call waits for its turn, and goes on while it is throttled, in ms: nobody waits for it. 0 for the others. */
  patienceMs(): number
}

/** The code of a ProviderError: the call was not made, to keep below the provider's rate limit. */
export const ownRateLimitCode = 'own_rate_limit'

/** A little more than a second, since some calls take longer on their way than others. */
const windowMs = 1_050
/** A provider that names a longer time is asked sooner all the same. */
const maxPauseMs = 30_000
const defaultPatienceMs = 60_000

/**
 * @param options `perSecond`: calls that may start within a second; 0 for any number. `patienceMs`: see `Pace`
 */
export function createPace({
  perSecond,
  patienceMs = defaultPatienceMs,
}: {
  readonly perSecond: number
  readonly patienceMs?: number
}): Pace {
  const limit = perSecond === 0 ? Number.POSITIVE_INFINITY : perSecond
  const lanes = priorities.map((urgency): Lane => ({ priority: urgency, pausedUntil: 0, waiting: new Set() }))
  /** When the calls of the last second started. */
  let starts: number[] = []
  let lastOthersStart = 0
  let timer: NodeJS.Timeout | undefined

  const patience = () => (['background', 'reconciler'].includes(currentPriority()) ? patienceMs : 0)

  /** The first time at which a call may start, if no other one starts before. */
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
    async acquire(ms) {
      const { waiting } = laneOf(lanes, currentPriority())
      const isPatient = patience() > 0
      const longestMs = isPatient ? patience() : ms / 2
      // A queue that is too long already is not joined: too many requests would only wait to be refused.
      if ((waiting.size / limit) * windowMs > longestMs) throw ownRateLimitError()
      const askedAt = performance.now()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.add(resolve)
      advance()
      const giveUp = setTimeout(() => waiting.delete(resolve) && reject(ownRateLimitError()), longestMs)
      await promise.finally(() => clearTimeout(giveUp))
      return isPatient ? ms : ms - (performance.now() - askedAt)
    },
    pause(ms) {
      const seen = watched.getStore()
      if (seen) seen.wasThrottled = true
      const until = performance.now() + Math.min(ms, maxPauseMs)
      const { priority } = laneOf(lanes, currentPriority())
      const behind = lanes.slice(Math.max(1, priorities.indexOf(priority)))
      for (const lane of behind) lane.pausedUntil = Math.max(lane.pausedUntil, until)
    },
    patienceMs: patience,
  }
}

type Lane = { readonly priority: CallPriority; pausedUntil: number; readonly waiting: Set<() => void> }

function laneOf(lanes: readonly Lane[], urgency: CallPriority): Lane {
  const lane = lanes.find((each) => each.priority === urgency)
  if (!lane) throw new Error(`No lane for ${urgency}`)
  return lane
}

function ownRateLimitError(): ProviderError {
  const message = 'The provider gets too many requests at the moment'
  return new ProviderError('unavailable', ownRateLimitCode, message, { rateLimit: { retryAfterMs: null } })
}
