// Work that outlasts what it depends on: it is begun again after each failure, until somebody stops it.
import { setTimeout as sleep } from 'node:timers/promises'

const repeatedErrorMs = 60_000
/** What ran for so long was well before it failed: longer than anybody waits for a connection. */
const healthyMs = 10_000

/**
 * Runs something until the signal aborts, and again whenever it ends before.
 * @param options `pauseMs` after a failure; `isFinal` failures are thrown; `complain` is told of each other failure, but of
 *   one that only goes on once a minute; `now` for tests: a clock in ms
 * @throws what `isFinal` picks
 */
export async function keepRunning(
  run: () => Promise<void>,
  options: {
    readonly signal: AbortSignal
    readonly pauseMs: number
    readonly isFinal?: (error: unknown) => boolean
    readonly onError: (error: unknown) => void
    readonly now?: () => number
  },
): Promise<void> {
  const { signal, pauseMs, isFinal, onError, now = () => performance.now() } = options
  let lastReported: { readonly text: string; readonly at: number } | undefined
  while (!signal.aborted) {
    const begunAt = now()
    try {
      await run()
    } catch (error) {
      if (isFinal?.(error)) throw error
      if (signal.aborted) return
      const text = error instanceof Error ? error.message : String(error)
      const isRepeated =
        lastReported?.text === text && now() - begunAt < healthyMs && now() - lastReported.at < repeatedErrorMs
      if (!isRepeated) {
        lastReported = { text, at: now() }
        onError(error)
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
