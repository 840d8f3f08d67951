// Waits for a condition instead of for a time.
import { setTimeout as pause } from 'node:timers/promises'

const shortestPauseMs = 10
const longestPauseMs = 100
/** Part of the time waited so far. Polling slows down during long waits, to leave the CPU to the awaited work. */
const pauseShare = 1 / 20

/**
 * Polls until the condition returns something other than `undefined` or `false`.
 *
 * @param options `what`: the awaited thing, for the error message
 * @returns the condition's result
 * @throws Error after `timeoutMs`, and the errors of the condition
 */
export async function waitFor<Found>(
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  { what, timeoutMs = 30_000 }: { what: string; timeoutMs?: number },
): Promise<Found> {
  const startedAt = performance.now()
  for (;;) {
    const found = await condition()
    if (found !== undefined && found !== false) return found
    const waitedMs = performance.now() - startedAt
    if (waitedMs > timeoutMs) throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`)
    await pause(Math.min(Math.max(waitedMs * pauseShare, shortestPauseMs), longestPauseMs))
  }
}
