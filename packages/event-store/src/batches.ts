// Between a subscription that pushes events one by one and a handler that takes them in batches: a bounded buffer.
import type { LogPosition, Recorded } from './codec.ts'

/** Events in log order; everything up to `position` is in this batch or an earlier one. `events` may be empty. */
export type Batch = { readonly events: readonly Recorded[]; readonly position: LogPosition }

export type BatchBuffer = {
  /** Resolves at once while there is room, else when a batch was taken. */
  push(event: Recorded): Promise<void>
  /** Notes that everything up to here was pushed, whether it was an event of interest or not. */
  checkpoint(position: LogPosition): void
  /** No more will come; `take` throws the reason once the buffer is empty. */
  end(reason: unknown): void
  /** Waits for something to be there and returns all of it, at most `maxBatch` events. */
  take(): Promise<Batch>
}

/** While a batch is handled the next ones gather here, so that reading and writing overlap. */
export function createBatchBuffer(maxBatch: number): BatchBuffer {
  let events: Recorded[] = []
  let checkpoint: LogPosition | undefined
  let ended: { reason: unknown } | undefined
  let wakeTaker: (() => void) | undefined
  let room = Promise.withResolvers<void>()
  const capacity = maxBatch * 2

  const wake = () => wakeTaker?.()

  function taken(): Batch | undefined {
    const last = events.at(-1)
    if (last && events.length <= maxBatch) {
      const batch = { events, position: checkpoint ?? last.position }
      events = []
      checkpoint = undefined
      return batch
    }
    if (last) {
      const first = events.slice(0, maxBatch)
      events = events.slice(maxBatch)
      return { events: first, position: first.at(-1)?.position ?? last.position }
    }
    if (!checkpoint) return undefined
    const batch = { events: [], position: checkpoint }
    checkpoint = undefined
    return batch
  }

  return {
    async push(event) {
      events.push(event)
      // A checkpoint lies before every event that is pushed after it.
      checkpoint = undefined
      wake()
      while (events.length >= capacity && !ended) await room.promise
    },
    checkpoint(position) {
      checkpoint = position
      wake()
    },
    end(reason) {
      ended ??= { reason }
      room.resolve()
      wake()
    },
    async take() {
      for (;;) {
        const batch = taken()
        if (batch) {
          room.resolve()
          room = Promise.withResolvers<void>()
          return batch
        }
        if (ended) throw ended.reason
        await new Promise<void>((resolve) => {
          wakeTaker = resolve
        })
      }
    },
  }
}
