// Takes what a subscription brings without a promise for each event, which would cost as much as reading the event.
import { type AllStreamResolvedEvent, type AllStreamSubscription, START, streamNameFilter } from '@eventstore/db-client'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Codec } from '../codec/codec.ts'
import type { Connection } from '../connection/connection.ts'
import { withTimeout } from '../connection/errors.ts'
import type { BatchBuffer } from './batches.ts'
import { maxLogPosition, type SubscriptionProgress } from './progress.ts'

/** That everything of interest up to here has come. */
export type CheckpointMessage = { readonly checkpoint: LogPosition }

export type SubscriptionReader = {
  /** The next one; null when it is not there yet. */
  next(): AllStreamResolvedEvent | CheckpointMessage | null
  /**
   * Waits until there may be more; to be called right after `next` returned null.
   * @throws Error why nothing will come any more
   */
  waitForMore(): Promise<void>
}

function readSubscription(subscription: AllStreamSubscription): SubscriptionReader {
  let over: { readonly reason: unknown } | undefined
  let wake = () => {}
  const finish = (reason: unknown) => {
    over ??= { reason }
    wake()
  }
  const ended = () => finish(new Error('The event store ended the subscription'))
  // They stay: a subscription that was left may still fail.
  subscription.on('readable', () => wake())
  subscription.on('error', finish)
  subscription.on('end', ended)
  subscription.on('close', ended)
  return {
    next: () => subscription.read(),
    async waitForMore() {
      if (over) throw over.reason
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    },
  }
}

// A subscription over a connection of its own, whose events gather in a buffer until it is left.

const closeTimeoutMs = 1_000

type CatchUpOptions = Pick<Codec, 'decode'> & {
  readonly connect: () => Connection
  readonly prefixes: readonly string[]
  readonly buffer: BatchBuffer
  /** It begins where this has come to. */
  readonly progress: SubscriptionProgress
  /** Nothing beyond this is wanted. */
  readonly until?: LogPosition
  /** Goes on beside it until it is left; what it throws ends the buffer. */
  readonly watch: (left: AbortSignal) => Promise<unknown>
  /** Ends the buffer, with its reason. */
  readonly signal: AbortSignal
}

export type CatchUpSubscription = {
  readonly subscription: AllStreamSubscription
  /** Aborts when it is left. */
  readonly closed: AbortSignal
  close(): Promise<void>
}

/** Subscribes. Why nothing comes any more is what taking from the buffer throws then. */
export function openCatchUpSubscription(options: CatchUpOptions): CatchUpSubscription {
  const { connect, prefixes, buffer, progress, watch, signal } = options
  const connection = connect()
  const subscription = subscribe(connection, progress.reached, prefixes)
  const closed = new AbortController()
  const aborted = () => buffer.end(signal.reason)
  signal.addEventListener('abort', aborted)
  if (signal.aborted) aborted()
  const consuming = consume(subscription, options).catch(buffer.end)
  // Not waited for in the end: it may be reading, and what it finds out then is nobody's concern.
  void watch(closed.signal).catch(buffer.end)
  return {
    subscription,
    closed: closed.signal,
    async close() {
      signal.removeEventListener('abort', aborted)
      closed.abort()
      buffer.end(new Error('The subscription was left'))
      await closeSubscription(connection, subscription)
      await consuming
    },
  }
}

function subscribe(
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
        const checkpoint: CheckpointMessage = { checkpoint: position }
        subscription.push(checkpoint)
      },
    }),
  })
  return subscription
}

/**
 * Moves what comes into the buffer, no faster than it is taken from there.
 * @returns when something beyond `until` came
 * @throws UnreadableEventError, or why nothing comes any more
 */
async function consume(subscription: AllStreamSubscription, options: CatchUpOptions): Promise<void> {
  const { decode, buffer, progress, until } = options
  const reader = readSubscription(subscription)
  for (;;) {
    const item = reader.next()
    if (item === null) {
      await reader.waitForMore()
      continue
    }
    const position = 'checkpoint' in item ? item.checkpoint : item.event?.position
    // Some servers send 2^64-1 as a checkpoint before anything matched.
    if (position === undefined || position.commit > maxLogPosition.commit) continue
    if (until !== undefined && isAfter(position, until)) {
      progress.waiting = false
      buffer.checkpoint(until)
      return
    }
    if ('checkpoint' in item) {
      // A checkpoint that says less than the event before it would take a durable position back.
      if (progress.reached !== undefined && !isAfter(position, progress.reached)) continue
      buffer.checkpoint(position)
    } else if (item.event) {
      const space = buffer.push(decode(item.event, position))
      progress.waiting = space === undefined
      if (space) await space
      progress.waiting = true
    }
    progress.reached = position
  }
}

async function closeSubscription(connection: Connection, subscription: AllStreamSubscription): Promise<void> {
  // Leaving a `for await` does not cancel the call on the wire. There may not be one yet, when no server answers.
  await withTimeout(subscription.unsubscribe(), closeTimeoutMs, 'Unsubscribing').catch(() => {})
  subscription.destroy()
  await connection.close()
}
