// A subscription that never gives up: it resumes from the last durable position after every kind of failure.
import { setTimeout as sleep } from 'node:timers/promises'
import { type AllStreamResolvedEvent, type AllStreamSubscription, START, streamNameFilter } from '@eventstore/db-client'
import { type Batch, type BatchBuffer, createBatchBuffer } from './batches.ts'
import { decode, isAfter, type LogPosition, UnreadableEventError } from './codec.ts'
import type { Connection } from './connection.ts'
import type { EventStore } from './eventStore.ts'
import { withTimeout } from './failure.ts'
import { type Progress, watchLag } from './lagWatch.ts'
import { createPassing } from './passing.ts'

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
  /** Its event `awaited` says that somebody waits for the end of the log, whether there is something to handle or not. */
  readonly awaited?: EventTarget
  /** Told true when the store has begun to send, and false when that ended. */
  readonly connected?: (isConnected: boolean) => void
  readonly signal: AbortSignal
  readonly log: SubscriptionLog
}

const firstPauseMs = 100
const longestPauseMs = 5_000
const leaveTimeoutMs = 1_000
/** Some servers send 2^64-1 as a checkpoint before anything matched; no real position is that large. */
const largestPosition = 2n ** 63n - 1n

/**
 * Runs until the signal aborts or the store is closed. A lost connection, an ended or a silent stream or a handler that
 * throws leads to a new subscription from `start()`, over a new connection, after a pause that grows to 5 s.
 * @throws UnreadableEventError when the log holds an event that the codec cannot read: going on would be a lie.
 */
export async function runSubscription(options: SubscriptionOptions): Promise<void> {
  const { name, log } = options
  const signal = AbortSignal.any([options.signal, options.store.subscriptions.closing])
  let pauseMs = firstPauseMs
  while (!signal.aborted) {
    try {
      await subscribeOnce({ ...options, signal }, () => {
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
  const progress: Progress = { reached: await options.start(), waiting: true }
  const buffer = createBatchBuffer(maxBatch)
  const connection = store.subscriptions.connect()
  const subscription = subscribe(connection, progress.reached, streamPrefixes)
  const confirmed = () => options.connected?.(true)
  subscription.once('confirmation', confirmed)
  const left = new AbortController()
  const aborted = () => buffer.end(new Error('stopping'))
  signal.addEventListener('abort', aborted)
  if (signal.aborted) aborted()
  const taking = take(subscription, buffer, progress).catch(buffer.end)
  const pass = createPassing(store.subscriptions, streamPrefixes, progress, buffer)
  options.awaited?.addEventListener('awaited', pass, { signal: left.signal })
  // Not waited for in the end: it may be reading, and what it finds out then is nobody's concern.
  void watchLag(store.subscriptions, streamPrefixes, progress, left.signal).catch(buffer.end)
  try {
    for (;;) {
      await options.handle(await buffer.take())
      progressed()
    }
  } finally {
    signal.removeEventListener('abort', aborted)
    subscription.off('confirmation', confirmed)
    options.connected?.(false)
    left.abort()
    buffer.end(new Error('The subscription was left'))
    await leave(connection, subscription)
    await taking
  }
}

/** That everything of interest up to here has come. */
export type Checkpoint = { readonly checkpoint: LogPosition }

export function subscribe(
  { client }: Connection,
  from: LogPosition | undefined,
  prefixes: readonly string[],
): AllStreamSubscription {
  const subscription = client.subscribeToAll({
    fromPosition: from ?? START,
    filter: streamNameFilter({
      prefixes: [...prefixes],
      // It comes after the events before it but would overtake those that are not read yet: so it takes its place in line.
      checkpointReached(_, position) {
        const checkpoint: Checkpoint = { checkpoint: position }
        subscription.push(checkpoint)
      },
    }),
  })
  return subscription
}

/** Moves what comes into the buffer, no faster than it is taken from there. Ends only by throwing. */
export async function take(
  items: AsyncIterable<AllStreamResolvedEvent | Checkpoint>,
  buffer: BatchBuffer,
  progress: Progress,
): Promise<never> {
  for await (const item of items) {
    progress.waiting = false
    if ('checkpoint' in item) {
      const { checkpoint } = item
      // A checkpoint that says less than the event before it would take a durable position back.
      const isNew = progress.reached === undefined || isAfter(checkpoint, progress.reached)
      if (isNew && checkpoint.commit <= largestPosition) {
        buffer.checkpoint(checkpoint)
        progress.reached = checkpoint
      }
    } else if (item.event) {
      await buffer.push(decode(item.event, item.event.position))
      progress.reached = item.event.position
    }
    progress.waiting = true
  }
  throw new Error('The event store ended the subscription')
}

export async function leave(connection: Connection, subscription: AllStreamSubscription): Promise<void> {
  // Leaving a `for await` does not cancel the call on the wire. There may not be one yet, when no server answers.
  await withTimeout(subscription.unsubscribe(), leaveTimeoutMs, 'Unsubscribing').catch(() => {})
  subscription.destroy()
  await connection.close()
}
