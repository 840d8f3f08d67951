// Notices a subscription that hears nothing any more although there is something to hear.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { SubscriptionSource } from '../eventStore.ts'

/** How far a subscription has got. */
export type SubscriptionProgress = {
  /** The last event or checkpoint that came, or where it began. */
  reached: LogPosition | undefined
  /** Whether everything that came was taken, so that the next word is the server's. */
  waiting: boolean
}

/** A connection can die without a word, and so can a subscription on one that lives. */
class SilentSubscriptionError extends Error {
  override readonly name = 'SilentSubscriptionError'
}

/**
 * Looks from time to time what a healthy subscription would have been told, in the log itself. What is missing at one look
 * may be on its way; what is still missing at the next one is not. A subscription whose handler is slow is not waiting, and
 * one that is behind the end of the log by events of others misses nothing.
 * @throws SilentSubscriptionError then; the signal's reason when it aborts
 */
export async function detectSilence(
  { due: nextMatching, lagCheckMs }: Pick<SubscriptionSource, 'due' | 'lagCheckMs'>,
  prefixes: readonly string[],
  progress: SubscriptionProgress,
  signal: AbortSignal,
): Promise<never> {
  let missing: LogPosition | undefined
  for (;;) {
    await sleep(lagCheckMs, undefined, { signal })
    // A store that cannot be read tells nothing about the subscription.
    const found = progress.waiting ? await nextMatching(progress.reached, prefixes).catch(() => undefined) : undefined
    // Looked at after the read, which gave everything that had already come the time to be taken.
    if (missing && found && progress.waiting && !hasReached(progress, missing)) {
      throw new SilentSubscriptionError(`Nothing came although the log goes on to ${found.commit}/${found.prepare}`)
    }
    missing = found
  }
}

function hasReached({ reached }: SubscriptionProgress, position: LogPosition): boolean {
  return reached !== undefined && !isAfter(position, reached)
}
