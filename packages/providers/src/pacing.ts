// Keeps the calls of one kind to a provider below its limits, and waits when it says that there were too many.
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { ProviderError, type RateLimit } from './provider.ts'

/**
 * Makes a call when it is its turn. One that the provider turns away for its limits is made again, a few times. Only for
 * calls that may be made again.
 * @throws what the call throws
 */
export type Pace = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

/** How long a provider is left alone that does not say how long, for the first, the second and the third time. */
const defaultPausesMs: readonly number[] = [1_000, 2_000, 4_000]

/** Whatever the provider says: somebody waits for the answer. */
const maxPauseMs = 30_000

/**
 * Of one call, all its turns together. While a provider turns everything away each pause lets one call through to be told
 * so, and those who are behind it would wait for all the pauses of all who are before them.
 */
const defaultMaxWaitMs = 60_000

/**
 * @param options `perSecond`: calls that are begun; `concurrency`: calls under way at once; `pausesMs`: as many as a call is
 *   made again; `maxWaitMs`: with no turn before then, a call fails as the one did that was turned away last
 */
export function createPace({
  perSecond,
  concurrency,
  pausesMs = defaultPausesMs,
  maxWaitMs = defaultMaxWaitMs,
}: {
  readonly perSecond: number
  readonly concurrency: number
  readonly pausesMs?: readonly number[]
  readonly maxWaitMs?: number
}): Pace {
  const queue = new PQueue({ concurrency })
  // Its own limit per second goes by the system's clock, and stands still for as long as that is set back.
  const turns = new PQueue({ concurrency: 1 })
  const spacingMs = 1_000 / perSecond
  let nextStartAt = 0
  let turnedAway: ProviderError | undefined

  /** Looks again after each wait: meanwhile another call may have been turned away. */
  async function turn(giveUpAt: number): Promise<void> {
    for (;;) {
      const remainingMs = nextStartAt - performance.now()
      if (remainingMs <= 0) break
      if (turnedAway && nextStartAt > giveUpAt) throw turnedAway
      await sleep(remainingMs)
    }
    nextStartAt = performance.now() + spacingMs
  }

  async function paced<Answer>(call: () => Promise<Answer>, giveUpAt: number): Promise<Answer> {
    for (let repeats = 0; ; repeats++) {
      await turns.add(() => turn(giveUpAt))
      try {
        const answer = await call()
        turnedAway = undefined
        return answer
      } catch (error) {
        if (!(error instanceof ProviderError) || error.rateLimit === null) throw error
        turnedAway = error
        // Also after the last time, for all the other calls.
        const pauseMs = pausesMs[repeats] ?? pausesMs.at(-1) ?? 0
        nextStartAt = Math.max(nextStartAt, performance.now() + delayAfter(error.rateLimit, pauseMs))
        if (repeats === pausesMs.length) throw error
      }
    }
  }

  return (call) => {
    const giveUpAt = performance.now() + maxWaitMs
    return queue.add(() => paced(call, giveUpAt))
  }
}

/** With up to a half more, so that several processes do not come back all at once. */
export function delayAfter({ retryAfterMs }: RateLimit, pauseMs: number): number {
  return Math.min((retryAfterMs ?? pauseMs) * (1 + Math.random() / 2), maxPauseMs)
}
