// Between a subscription that pushes events one by one and a handler that takes them in batches: a bounded buffer.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Recorded } from '../codec/codec.ts'

/** Events in log order; everything up to `position` is in this batch or an earlier one. `events` may be empty. */
export type EventBatch = { readonly events: readonly Recorded[]; readonly position: LogPosition }

export type BatchBuffer = {
  /** Takes one more event; a promise is returned only when there is no room left, and resolves when a batch was taken. */
  push(event: Recorded): Promise<void> | undefined
  /** Notes that everything up to here was pushed, whether it was an event of interest or not. */
  checkpoint(position: LogPosition): void
  /** No more will come; `take` throws the reason once the buffer is empty. */
  end(reason: unknown): void
  /** Waits for something to be there and returns all of it, at most `maxBatch` events. */
  take(): Promise<EventBatch>
  /** Until everything up to here was pushed, `take` waits for a full batch; without a position, it does not. */
  collectUntil(until: LogPosition | undefined): void
  isCollecting(): boolean
}

/**
 * While a batch is handled the next ones gather here, so that reading and writing overlap.
 * @param batchDelayMs how long `take` waits for a full batch, from the first that is there: however little comes, and even if the
 *   position that it gathers up to is never reached, it is handed out then
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

  /** Whoever waits is not woken for each event: for the first, to set the clock by it, and when a batch is due. */
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

/** What came and was not taken yet. */
function createBufferContent(maxBatch: number) {
  let events: Recorded[] = []
  let checkpoint: LogPosition | undefined
  return {
    add(event: Recorded) {
      events.push(event)
      // A checkpoint lies before every event that comes after it.
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
      if (position === undefined) throw new Error('There is nothing to take')
      events = isAll ? [] : events.slice(maxBatch)
      if (isAll) checkpoint = undefined
      return { events: first, position }
    },
  }
}
