// Waiting for a condition instead of for a time.
import { setTimeout as pause } from 'node:timers/promises'

const shortestPauseMs = 10
const longestPauseMs = 40
/** Of what has been waited so far: who waits long may be told a little later, and leaves the machine to what is awaited. */
const pauseShare = 1 / 20

/**
 * Looks until the condition gives something other than `undefined` or `false`.
 *
 * @param options `what` is awaited, for the message of the failure
 * @returns what the condition gave
 * @throws when it did not come true in time, naming what was awaited; and whatever the condition throws
 */
export async function waitFor<Found>(
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  { what, timeoutMs = 30_000 }: { what: string; timeoutMs?: number },
): Promise<Found> {
  const began = performance.now()
  for (;;) {
    const found = await condition()
    if (found !== undefined && found !== false) return found
    const waitedMs = performance.now() - began
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await pause(Math.min(Math.max(waitedMs * pauseShare, shortestPauseMs), longestPauseMs))
  }
}
