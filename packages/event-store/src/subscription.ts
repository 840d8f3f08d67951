// A subscription that never gives up: it resumes from the last durable position after every kind of failure.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type AllStreamSubscription, START, streamNameFilter } from '@eventstore/db-client'
import { type Batch, createBatchBuffer } from './batches.ts'
import { decode, type LogPosition, UnreadableEventError } from './codec.ts'
import type { EventStore } from './eventStore.ts'

/** The part of a logger that a subscription needs. */
export type SubscriptionLog = {
  info(detail: object, message: string): void
  warn(detail: object, message: string): void
}

export type SubscriptionOptions = {
  readonly store: EventStore
  readonly name: string
  readonly streamPrefixes: readonly string[]
  /** The last position that is durably handled (exclusive start), or nothing to begin at the start of the log. */
  readonly start: () => Promise<LogPosition | undefined>
  /** Handles a batch durably, checkpoint included. A throw is taken for a passing fault. */
  readonly handle: (batch: Batch) => Promise<void>
  readonly maxBatch: number
  readonly signal: AbortSignal
  readonly log: SubscriptionLog
}

const firstPauseMs = 100
const longestPauseMs = 5_000
/** How often a checkpoint looks whether the events before it have been taken over. */
const drainPollMs = 2
/** Some servers send 2^64-1 as a checkpoint before anything matched; no real position is that large. */
const largestPosition = 2n ** 63n - 1n

/**
 * Runs until the signal aborts. A lost connection, an ended stream or a handler that throws leads to a new subscription
 * from `start()`, after a pause that grows to 5 s.
 * @throws UnreadableEventError when the log holds an event that the codec cannot read: going on would be a lie.
 */
export async function runSubscription(options: SubscriptionOptions): Promise<void> {
  const { name, signal, log } = options
  let pauseMs = firstPauseMs
  while (!signal.aborted) {
    try {
      await subscribeOnce(options, () => {
        pauseMs = firstPauseMs
      })
    } catch (error) {
      if (error instanceof UnreadableEventError) throw error
      if (signal.aborted) return
      log.warn(
        { err: error, subscription: name, pauseMs },
        'subscription interrupted, resuming from the last checkpoint',
      )
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }
}

async function subscribeOnce(options: SubscriptionOptions, progressed: () => void): Promise<void> {
  const { store, streamPrefixes, signal, maxBatch } = options
  const from = await options.start()
  const buffer = createBatchBuffer(maxBatch)
  const end = (reason: unknown) => buffer.end(reason ?? new Error('The subscription ended'))
  const subscription: AllStreamSubscription = store.client.subscribeToAll({
    fromPosition: from ?? START,
    filter: streamNameFilter({
      prefixes: [...streamPrefixes],
      // The client awaits this before it takes the next message, so the checkpoint enters the buffer behind every
      // event that came before it: wait until those have left the client's own buffer.
      checkpointReached: async (_, position) => {
        while (subscription.readableLength > 0 && !subscription.destroyed) await sleep(drainPollMs)
        await nextTurn()
        // Events that a closed subscription still held are lost with it, so its checkpoint may not be taken for durable.
        if (!subscription.destroyed && position.commit <= largestPosition) buffer.checkpoint(position)
      },
    }),
  })
  const aborted = () => end(new Error('stopping'))
  signal.addEventListener('abort', aborted, { once: true })
  // After a killed server only `error` is emitted; after a graceful stop it may be `end` alone.
  subscription.on('error', end).on('close', end).on('end', end)
  const reading = (async () => {
    for await (const { event } of subscription) {
      if (!event) continue
      try {
        await buffer.push(decode(event, event.position))
      } catch (unreadable) {
        // Said here, because leaving the loop closes the stream, and that would be the reason then.
        return end(unreadable)
      }
    }
  })().catch(end)
  try {
    for (;;) {
      await options.handle(await buffer.take())
      progressed()
    }
  } finally {
    signal.removeEventListener('abort', aborted)
    buffer.end(new Error('The subscription was left'))
    // Leaving a `for await` does not cancel the call on the wire.
    await subscription.unsubscribe().catch(() => {})
    subscription.destroy()
    await reading
  }
}
