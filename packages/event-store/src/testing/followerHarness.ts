// A follower whose checkpoint survives restarts, as one in a table would.
import type { LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '../eventStore.ts'
import type { EventBatch } from '../read/readBatches.ts'

export type FollowerHarness = {
  /** `stream@revision` of every handled event, in order. */
  readonly seen: readonly string[]
  /** Every handled batch. */
  readonly batches: readonly EventBatch[]
  readonly stored: { checkpoint: LogCheckpoint | undefined }
  /** The error of each interruption. */
  readonly interruptions: readonly unknown[]
  /** What `connected` reported, in order. */
  readonly connections: readonly boolean[]
  /** Requests that the checkpoint advance to the end of the log. */
  await(): void
  run(maxBatch?: number): { readonly running: Promise<void>; stop(): Promise<void> }
}

/** @param handle called before a batch counts as handled; may throw */
export function followerHarness(
  store: EventStore,
  prefix: string,
  handle: (batch: EventBatch) => Promise<void> | void = () => {},
): FollowerHarness {
  const seen: string[] = []
  const batches: EventBatch[] = []
  const interruptions: unknown[] = []
  const connections: boolean[] = []
  const stored: { checkpoint: LogCheckpoint | undefined } = { checkpoint: undefined }
  const awaited = new EventTarget()
  const keepError = (detail: object) => {
    if ('err' in detail) interruptions.push(detail.err)
  }
  return {
    seen,
    batches,
    stored,
    interruptions,
    connections,
    await: () => void awaited.dispatchEvent(new Event('awaited')),
    run(maxBatch = 500) {
      const stop = new AbortController()
      const running = store.follow({
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
        connected: (isConnected) => {
          if (connections.at(-1) !== isConnected) connections.push(isConnected)
        },
        signal: stop.signal,
        log: { warn: keepError, debug: keepError },
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
