// Passing over what is not for a subscription, as soon as somebody asks. The server itself says only now and then that it
// has come further: with the client's defaults, once in 32 events.
import { isAfter } from '@paylog/domain/logPosition'
import type { SubscriptionSource } from '../eventStore.ts'
import type { BatchBuffer } from './batches.ts'
import type { SubscriptionProgress } from './lagWatch.ts'

/**
 * @returns looks in the log itself whether anything for these prefixes lies ahead; if not, the buffer and the progress go on
 *   to its end, as after a checkpoint of the server's. Asked while it looks, it looks once more: the log may have grown.
 */
export function createCheckpointAdvance(
  { passed: lastSkipped }: Pick<SubscriptionSource, 'passed'>,
  prefixes: readonly string[],
  progress: SubscriptionProgress,
  buffer: Pick<BatchBuffer, 'checkpoint'>,
): () => void {
  let state: 'idle' | 'looking' | 'asked again' = 'idle'

  async function advance(): Promise<void> {
    do {
      state = 'looking'
      // A subscription that is still taking what came is told of more soon, and a store that cannot be read tells nothing.
      const position = progress.waiting
        ? await lastSkipped(progress.reached, prefixes).catch(() => undefined)
        : undefined
      // Events that came during the read lie behind all that it found.
      if (position !== undefined && (progress.reached === undefined || isAfter(position, progress.reached))) {
        buffer.checkpoint(position)
        progress.reached = position
      }
    } while (isRequestedAgain())
    state = 'idle'
  }

  // Behind a function, because the compiler does not see that the state changes while a look is awaited.
  const isRequestedAgain = () => state === 'asked again'

  return () => {
    if (state === 'idle') void advance()
    else state = 'asked again'
  }
}
