// Keeps work running: restarts it after each failure, until it is stopped.
import { setTimeout as sleep } from 'node:timers/promises'

const repeatedErrorMs = 60_000
/** Work that ran for this long was healthy before it failed; longer than any connection timeout. */
const healthyMs = 10_000

/**
 * Runs `run` again and again until the signal aborts.
 * @param options `pauseMs` after a failure; `isFinal` failures are thrown; `onError` is called for each other failure, but
 *   only once a minute for a repeated one; `now` for tests: a clock in ms
 * @throws failures for which `isFinal` returns true
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
    const startedAt = now()
    try {
      await run()
    } catch (error) {
      if (isFinal?.(error)) throw error
      if (signal.aborted) return
      const text = error instanceof Error ? error.message : String(error)
      const isRepeated =
        lastReported?.text === text && now() - startedAt < healthyMs && now() - lastReported.at < repeatedErrorMs
      if (!isRepeated) {
        lastReported = { text, at: now() }
        onError(error)
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
