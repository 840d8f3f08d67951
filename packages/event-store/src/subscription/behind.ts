// Whether a subscription is behind the end of the log, and so gathers full batches instead of handing out what is there.
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { EventStore } from '../eventStore.ts'
import type { EventBatch, BatchBuffer } from './batches.ts'
import type { SubscriptionProgress } from './lagWatch.ts'

const maxPosition = 2n ** 63n - 1n
/** No real position is larger. */
export const maxLogPosition: LogPosition = { commit: maxPosition, prepare: maxPosition }

/** A look that takes longer finds a log that is busy with others. */
const checkTimeoutMs = 200

export type BacklogWatch = {
  /** To be told of every batch that is taken: whoever takes a full one, or all that was known, may be behind again. */
  batchTaken(batch: EventBatch): void
}

/**
 * Lets the buffer gather up to the end of the log as it is now. When that is reached and the log is more than a batch ahead
 * again, up to its end as it is then.
 */
export function watchBacklog(
  store: Pick<EventStore, 'head' | 'lag'>,
  prefixes: readonly string[],
  maxBatch: number,
  progress: Pick<SubscriptionProgress, 'reached'>,
  buffer: Pick<BatchBuffer, 'gather' | 'isGathering'>,
): BacklogWatch {
  let isChecking = false
  let wasBehind = true

  async function check(endOfLog: () => Promise<LogPosition | undefined>): Promise<void> {
    isChecking = true
    // A store that cannot be read tells nothing; then nothing is waited for.
    const end = await endOfLog().catch(() => undefined)
    wasBehind = end !== undefined && (progress.reached === undefined || isAfter(end, progress.reached))
    buffer.gather(wasBehind ? end : undefined)
    isChecking = false
  }

  async function endOfBacklog(): Promise<LogPosition | undefined> {
    const { isMore, end } = await store.lag(progress.reached, prefixes, { most: maxBatch, timeoutMs: checkTimeoutMs })
    return isMore ? end : undefined
  }

  buffer.gather(maxLogPosition)
  void check(() => store.head())
  return {
    batchTaken({ events }) {
      const isFull = events.length === maxBatch
      if (buffer.isGathering() || !(isFull || wasBehind)) return
      // Most likely there is more, and what comes while that is looked for need not come one by one.
      if (isFull) buffer.gather(maxLogPosition)
      if (!isChecking) void check(endOfBacklog)
    },
  }
}
