// A bounded buffer between a subscription, which pushes single events, and a handler, which takes batches.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Recorded } from '../codec/codec.ts'

/** Events in log order; everything up to `position` is in this batch or an earlier one. `events` may be empty. */
export type EventBatch = { readonly events: readonly Recorded[]; readonly position: LogPosition }

export type BatchBuffer = {
  /** Adds an event. Returns a promise only when the buffer is full; it resolves when a batch has been taken. */
  push(event: Recorded): Promise<void> | undefined
  /** Records that everything up to here has been pushed or does not match. */
  checkpoint(position: LogPosition): void
  /** Ends the buffer; `take` throws the reason once it is empty. */
  end(reason: unknown): void
  /** Waits for content and returns all of it, at most `maxBatch` events. */
  take(): Promise<EventBatch>
  /** Makes `take` wait for full batches until this position is pushed; undefined stops that. */
  collectUntil(until: LogPosition | undefined): void
  isCollecting(): boolean
}

/**
 * Collects the next batches while one is handled, so that reading and writing overlap.
 * @param batchDelayMs how long `take` waits for a full batch, counted from its first event, even if the position of
 *   `collectUntil` is never reached
 */
export function createBatchBuffer(maxBatch: number, batchDelayMs = 0): BatchBuffer {
  const content = createBufferContent(maxBatch)
  let ended: { reason: unknown } | undefined
  let collectingUntil: LogPosition | undefined
  let dueAt = 0
  let waiting: { readonly wake: () => void; readonly isTimed: boolean } | undefined
  let space = Promise.withResolvers<void>()
  const capacity = maxBatch * 2

  const isFull = () => content.size() >= capacity && ended === undefined
  const isDue = () =>
    !content.isEmpty() &&
    (collectingUntil === undefined || ended !== undefined || content.size() >= maxBatch || performance.now() >= dueAt)

  /** Wakes `take` not for each event, only for the first one, which starts the timer, and when a batch is due. */
  function onArrival(position: LogPosition, isFirst: boolean): void {
    if (collectingUntil !== undefined && !isAfter(collectingUntil, position)) collectingUntil = undefined
    if (isFirst) dueAt = performance.now() + batchDelayMs
    if (waiting !== undefined && (!waiting.isTimed || isDue())) waiting.wake()
  }

  async function wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = content.isEmpty() ? undefined : setTimeout(resolve, Math.ceil(dueAt - performance.now()))
    waiting = { wake: resolve, isTimed: timer !== undefined }
    await promise
    waiting = undefined
    clearTimeout(timer)
  }

  async function waitForSpace(): Promise<void> {
    while (isFull()) await space.promise
  }

  return {
    push(event) {
      const isFirst = content.isEmpty()
      content.add(event)
      onArrival(event.position, isFirst)
      return isFull() ? waitForSpace() : undefined
    },
    checkpoint(position) {
      const isFirst = content.isEmpty()
      content.pass(position)
      onArrival(position, isFirst)
    },
    end(reason) {
      ended ??= { reason }
      space.resolve()
      waiting?.wake()
    },
    collectUntil(until) {
      collectingUntil = until
      waiting?.wake()
    },
    isCollecting: () => collectingUntil !== undefined,
    async take() {
      for (;;) {
        if (isDue()) break
        if (ended) throw ended.reason
        await wait()
      }
      space.resolve()
      space = Promise.withResolvers<void>()
      dueAt = performance.now() + batchDelayMs
      return content.take()
    },
  }
}

/** Events and checkpoint that have not been taken yet. */
function createBufferContent(maxBatch: number) {
  let events: Recorded[] = []
  let checkpoint: LogPosition | undefined
  return {
    add(event: Recorded) {
      events.push(event)
      // The event's position is after the checkpoint.
      checkpoint = undefined
    },
    pass(position: LogPosition) {
      checkpoint = position
    },
    isEmpty: () => events.length === 0 && checkpoint === undefined,
    size: () => events.length,
    /** @throws Error when it is empty */
    take(): EventBatch {
      const isAll = events.length <= maxBatch
      const first = isAll ? events : events.slice(0, maxBatch)
      const position = (isAll ? checkpoint : undefined) ?? first.at(-1)?.position
      if (position === undefined) throw new Error('The buffer is empty')
      events = isAll ? [] : events.slice(maxBatch)
      if (isAll) checkpoint = undefined
      return { events: first, position }
    },
  }
}
