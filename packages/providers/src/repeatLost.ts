// Makes a call to a provider that honours keys once more when its answer was lost, within one limit of time.
import { setTimeout as sleep } from 'node:timers/promises'
import { ProviderError } from './provider.ts'

const maxRepeats = 2
const firstPauseMs = 200
/** With less time than this left a further try would only be cut off. */
const shortestTryMs = 250

/**
 * Calls until there is an answer. Only for calls whose repetition is the same call: reads, and those with a key.
 *
 * Once a try was lost nobody knows whether it took effect, and that a later one did not reach the provider says nothing
 * about that: the outcome stays unknown.
 * @param call gets the time that is left for it, in ms; throws ProviderError
 * @param timeoutMs for all tries together
 * @throws ProviderError
 */
export async function repeatLost<Answer>(
  timeoutMs: number,
  call: (remainingMs: number) => Promise<Answer>,
): Promise<Answer> {
  const giveUpAt = performance.now() + timeoutMs
  let lost: ProviderError | undefined
  for (let repeats = 0; ; repeats++) {
    try {
      return await call(giveUpAt - performance.now())
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error.kind === 'unavailable' && lost) throw lost
      if (error.kind !== 'unknown') throw error
      lost = error
      const pauseMs = firstPauseMs * 2 ** repeats
      if (repeats === maxRepeats || giveUpAt - performance.now() < pauseMs + shortestTryMs) throw error
      await sleep(pauseMs)
    }
  }
}
