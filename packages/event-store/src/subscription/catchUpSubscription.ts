// A subscription on its own connection, which fills a buffer until it is closed.
import { type AllStreamResolvedEvent, type AllStreamSubscription, START, streamNameFilter } from '@eventstore/db-client'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Codec } from '../codec/codec.ts'
import type { Connection } from '../connection/connection.ts'
import { withTimeout } from '../connection/errors.ts'
import type { BatchBuffer } from './batches.ts'
import { maxLogPosition, type SubscriptionProgress } from './progress.ts'

/** Everything that matches up to here has arrived. */
export type CheckpointMessage = { readonly checkpoint: LogPosition }

export type SubscriptionReader = {
  /** The next item; null when none has arrived yet. */
  next(): AllStreamResolvedEvent | CheckpointMessage | null
  /**
   * Waits until there may be more; must be called right after `next` returned null.
   * @throws Error the reason why the subscription has ended
   */
  waitForMore(): Promise<void>
}

/** Reads without a promise per event, which would cost as much as reading the event. */
function readSubscription(subscription: AllStreamSubscription): SubscriptionReader {
  let over: { readonly reason: unknown } | undefined
  let wake = () => {}
  const finish = (reason: unknown) => {
    over ??= { reason }
    wake()
  }
  const ended = () => finish(new Error('The event store ended the subscription'))
  // Never removed, because a closed subscription may still fail.
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

const closeTimeoutMs = 1_000

type CatchUpOptions = Pick<Codec, 'decode'> & {
  readonly connect: () => Connection
  readonly prefixes: readonly string[]
  readonly buffer: BatchBuffer
  /** The subscription starts after `reached` and updates it. */
  readonly progress: SubscriptionProgress
  /** Inclusive end. */
  readonly until?: LogPosition
  /** Runs beside the subscription until `closed` aborts; an error ends the buffer. */
  readonly watch: (closed: AbortSignal) => Promise<unknown>
  /** Ends the buffer with the signal's reason. */
  readonly signal: AbortSignal
}

export type CatchUpSubscription = {
  readonly subscription: AllStreamSubscription
  /** Aborts when the subscription is closed. */
  readonly closed: AbortSignal
  close(): Promise<void>
}

/** Subscribes. When the subscription ends, the buffer's `take` throws the reason. */
export function openCatchUpSubscription(options: CatchUpOptions): CatchUpSubscription {
  const { connect, prefixes, buffer, progress, watch, signal } = options
  const connection = connect()
  const subscription = subscribe(connection, progress.reached, prefixes)
  const closed = new AbortController()
  const aborted = () => buffer.end(signal.reason)
  signal.addEventListener('abort', aborted)
  if (signal.aborted) aborted()
  const consuming = consume(subscription, options).catch(buffer.end)
  // Not awaited by `close`: it may be in the middle of a read, whose result no longer matters.
  void watch(closed.signal).catch(buffer.end)
  return {
    subscription,
    closed: closed.signal,
    async close() {
      signal.removeEventListener('abort', aborted)
      closed.abort()
      buffer.end(new Error('The subscription was closed'))
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
      // Queued behind the events before it, so that it does not overtake those that are not read yet.
      checkpointReached(_, position) {
        const checkpoint: CheckpointMessage = { checkpoint: position }
        subscription.push(checkpoint)
      },
    }),
  })
  return subscription
}

/**
 * Moves events into the buffer, no faster than they are taken from it.
 * @returns when an item after `until` arrived
 * @throws UnreadableEventError, or the reason why the subscription ended
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
    // Some servers send 2^64-1 as a checkpoint before the first match.
    if (position === undefined || position.commit > maxLogPosition.commit) continue
    if (until !== undefined && isAfter(position, until)) {
      progress.waiting = false
      buffer.checkpoint(until)
      return
    }
    if ('checkpoint' in item) {
      // A checkpoint before the last event would move a durable position back.
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
  // With a timeout, because there may be no call to cancel yet when no server responds.
  await withTimeout(subscription.unsubscribe(), closeTimeoutMs, 'Unsubscribing').catch(() => {})
  subscription.destroy()
  await connection.close()
}
