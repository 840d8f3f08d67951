// The end of the log in memory, shared by all subscribers. Its size is the bound: a
// subscriber that falls out of it reads from the database again.
import type { StoredEvent } from '../storage/storedEvent.ts'

export type Tail = {
  /** The position up to which everything was published. */
  readonly lastPosition: bigint
  /** Adds committed events, in order of position, and wakes the subscribers. */
  publish(events: readonly StoredEvent[], lastPosition: bigint): void
  /** Forgets everything up to a position that was reached without being published (an unknown commit that did happen). */
  resume(lastPosition: bigint): void
  /** Up to `limit` events after the position; undefined when some of them are no longer here. */
  after(position: bigint, limit: number): readonly StoredEvent[] | undefined
  /** Resolves when there may be more after the position, or when the signal aborts. */
  changed(position: bigint, signal: AbortSignal): Promise<void>
}

const maxEvents = 16_384
const maxBytes = 16 << 20
/** Removing from the front of an array copies it, so it is done for many at once. */
const trimEvents = 1_024

export function createTail(initialPosition: bigint): Tail {
  let events: StoredEvent[] = []
  let bytes = 0
  /** Everything after this position is in `events`. */
  let floor = initialPosition
  let lastPosition = initialPosition
  const waiting = new Set<() => void>()

  const wake = () => {
    const woken = [...waiting]
    waiting.clear()
    for (const resolve of woken) resolve()
  }

  const trim = () => {
    if (events.length <= maxEvents + trimEvents && bytes <= maxBytes) return
    let drop = Math.max(0, events.length - maxEvents)
    for (const event of events.slice(0, drop)) bytes -= sizeOf(event)
    while (bytes > maxBytes) {
      const event = events[drop]
      if (event === undefined) break
      bytes -= sizeOf(event)
      drop += 1
    }
    floor = events[drop - 1]?.position ?? floor
    events = events.slice(drop)
  }

  return {
    get lastPosition() {
      return lastPosition
    },
    publish(published, reached) {
      for (const event of published) {
        events.push(event)
        bytes += sizeOf(event)
      }
      lastPosition = reached
      trim()
      if (published.length > 0) wake()
    },
    resume(reached) {
      if (reached === lastPosition) return
      events = []
      bytes = 0
      floor = reached
      lastPosition = reached
      wake()
    },
    after(position, limit) {
      if (position < floor) return undefined
      const from = firstAfter(events, position)
      return events.slice(from, from + limit)
    },
    changed(position, signal) {
      const last = events.at(-1)
      if (signal.aborted || position < floor || (last !== undefined && last.position > position)) {
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const done = () => {
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        waiting.add(done)
        signal.addEventListener('abort', done)
      })
    },
  }
}

/** What an event costs in memory beside its bytes does not matter much: the number of events is bounded too. */
function sizeOf(event: StoredEvent): number {
  return event.data.length + event.metadata.length + event.stream.length + event.type.length
}

function firstAfter(events: readonly StoredEvent[], position: bigint): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const event = events[middle]
    if (event !== undefined && event.position <= position) low = middle + 1
    else high = middle
  }
  return low
}
