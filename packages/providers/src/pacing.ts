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
 * @param options `perSecond`: calls that are begun; `concurrency`: calls under way at once; `pausesMs`: as many as a call is
 *   made again
 */
export function createPace({
  perSecond,
  concurrency,
  pausesMs = defaultPausesMs,
}: {
  readonly perSecond: number
  readonly concurrency: number
  readonly pausesMs?: readonly number[]
}): Pace {
  const queue = new PQueue({ concurrency })
  // Its own limit per second goes by the system's clock, and stands still for as long as that is set back.
  const turns = new PQueue({ concurrency: 1 })
  const spacingMs = 1_000 / perSecond
  let nextStartAt = 0

  /** Looks again after each wait: meanwhile another call may have been turned away. */
  async function turn(): Promise<void> {
    for (;;) {
      const remainingMs = nextStartAt - performance.now()
      if (remainingMs <= 0) break
      await sleep(remainingMs)
    }
    nextStartAt = performance.now() + spacingMs
  }

  async function paced<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    for (let repeats = 0; ; repeats++) {
      await turns.add(turn)
      try {
        return await call()
      } catch (error) {
        const rateLimit = error instanceof ProviderError ? error.rateLimit : null
        if (rateLimit === null) throw error
        // Also after the last time, for all the other calls.
        const pauseMs = pausesMs[repeats] ?? pausesMs.at(-1) ?? 0
        nextStartAt = Math.max(nextStartAt, performance.now() + delayAfter(rateLimit, pauseMs))
        if (repeats === pausesMs.length) throw error
      }
    }
  }

  return (call) => queue.add(() => paced(call))
}

/** With up to a half more, so that several processes do not come back all at once. */
export function delayAfter({ retryAfterMs }: RateLimit, pauseMs: number): number {
  return Math.min((retryAfterMs ?? pauseMs) * (1 + Math.random() / 2), maxPauseMs)
}
