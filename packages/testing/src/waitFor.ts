// Waiting for a condition instead of for a time.
import { setTimeout as pause } from 'node:timers/promises'

const lookMs = 10

/**
 * Looks until the condition gives something other than `undefined` or `false`.
 *
 * @param options `what` is awaited, for the message of the failure
 * @returns what the condition gave
 * @throws when it did not come true in time, naming what was awaited; and whatever the condition throws
 */
export async function waitFor<Found>(
  condition: () => Promise<Found | undefined | false> | Found | undefined | false,
  { what, timeoutMs = 10_000 }: { what: string; timeoutMs?: number },
): Promise<Found> {
  const giveUpAt = performance.now() + timeoutMs
  for (;;) {
    const found = await condition()
    if (found !== undefined && found !== false) return found
    if (performance.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await pause(lookMs)
  }
}
