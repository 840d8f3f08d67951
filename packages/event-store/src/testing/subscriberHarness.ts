// A subscriber whose checkpoint survives its runs, as a table's would.
import type { LogPosition } from '@paylog/domain/events'
import type { EventStore } from '../eventStore.ts'
import type { EventBatch } from '../subscription/batches.ts'
import { runSubscription } from '../subscription/subscription.ts'

export type SubscriberHarness = {
  /** `stream@revision` of every event that was handled, in order. */
  readonly seen: readonly string[]
  /** Every batch that was handled. */
  readonly batches: readonly EventBatch[]
  readonly stored: { checkpoint: LogPosition | undefined }
  /** Why it was interrupted, each time. */
  readonly interruptions: readonly unknown[]
  /** Says that somebody waits for it. */
  await(): void
  run(maxBatch?: number): { readonly running: Promise<void>; stop(): Promise<void> }
}

/** @param handle is called before a batch counts as handled, and may throw */
export function subscriberHarness(
  store: EventStore,
  prefix: string,
  handle: (batch: EventBatch) => Promise<void> | void = () => {},
): SubscriberHarness {
  const seen: string[] = []
  const batches: EventBatch[] = []
  const interruptions: unknown[] = []
  const stored: { checkpoint: LogPosition | undefined } = { checkpoint: undefined }
  const awaited = new EventTarget()
  return {
    seen,
    batches,
    stored,
    interruptions,
    await: () => void awaited.dispatchEvent(new Event('awaited')),
    run(maxBatch = 500) {
      const stop = new AbortController()
      const running = runSubscription({
        store,
        name: 'test',
        streamPrefixes: [prefix],
        start: async () => stored.checkpoint,
        handle: async (batch) => {
          await handle(batch)
          batches.push(batch)
          for (const { stream, revision } of batch.events) seen.push(`${stream}@${revision}`)
          stored.checkpoint = batch.position
        },
        maxBatch,
        awaited,
        signal: stop.signal,
        log: {
          info() {},
          warn(detail) {
            if ('err' in detail) interruptions.push(detail.err)
          },
        },
      })
      return {
        running,
        async stop() {
          stop.abort()
          await running
        },
      }
    },
  }
}
