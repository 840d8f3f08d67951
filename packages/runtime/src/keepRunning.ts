// Work that outlasts what it depends on: it is begun again after each failure, until somebody stops it.
import { setTimeout as sleep } from 'node:timers/promises'

const repeatedComplaintMs = 60_000

/**
 * Runs something until the signal aborts, and again whenever it ends before.
 * @param options `pauseMs` after a failure; `isFinal` failures are thrown; `complain` is told of each other failure that is
 *   not the same as the last one, and of the same one once a minute
 * @throws what `isFinal` picks
 */
export async function keepRunning(
  run: () => Promise<void>,
  options: {
    readonly signal: AbortSignal
    readonly pauseMs: number
    readonly isFinal?: (error: unknown) => boolean
    readonly complain: (error: unknown) => void
  },
): Promise<void> {
  const { signal, pauseMs, isFinal, complain } = options
  const isNews = createNews(repeatedComplaintMs)
  while (!signal.aborted) {
    try {
      await run()
    } catch (error) {
      if (isFinal?.(error)) throw error
      if (signal.aborted) return
      if (isNews(error instanceof Error ? error.message : String(error))) complain(error)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Whether something is worth being said: it is not what was said last, or that was so long ago. */
export function createNews(againMs: number, now = () => performance.now()): (text: string) => boolean {
  let said: { readonly text: string; readonly at: number } | undefined
  return (text) => {
    if (said !== undefined && said.text === text && now() - said.at < againMs) return false
    said = { text, at: now() }
    return true
  }
}
