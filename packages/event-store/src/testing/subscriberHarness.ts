// A subscriber whose checkpoint survives restarts, as one in a table would.
import type { LogPosition } from '@paylog/domain/events'
import type { EventStore } from '../eventStore.ts'
import type { EventBatch } from '../subscription/batches.ts'
import { runSubscription } from '../subscription/subscription.ts'

export type SubscriberHarness = {
  /** `stream@revision` of every handled event, in order. */
  readonly seen: readonly string[]
  /** Every handled batch. */
  readonly batches: readonly EventBatch[]
  readonly stored: { checkpoint: LogPosition | undefined }
  /** The error of each interruption. */
  readonly interruptions: readonly unknown[]
  /** Requests that the checkpoint advance to the end of the log. */
  await(): void
  run(maxBatch?: number): { readonly running: Promise<void>; stop(): Promise<void> }
}

/** @param handle called before a batch counts as handled; may throw */
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
