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
  /** Some events after the position, none when it is the end; undefined when events after it are no longer here. */
  after(position: bigint): readonly StoredEvent[] | undefined
  /** For whoever waits at the end again and again, so that waiting costs little. */
  follow(signal: AbortSignal): Follower
}

export type Follower = {
  /** Resolves when there may be more after the position, or when the signal aborts. One call at a time. */
  changed(position: bigint): Promise<void>
  /** Forgets the follower, which would otherwise be woken as long as the node runs. */
  stop(): void
}

const maxEvents = 16_384
const maxBytes = 16 << 20
/** Removing from the front of an array copies it, so it is done for many at once. */
const trimEvents = 1_024
/** What one call hands out is kept alive by a client that does not read, whatever else leaves the tail meanwhile. */
const maxEventsAtOnce = 256
const maxBytesAtOnce = 256 << 10

export function createTail(initialPosition: bigint): Tail {
  let events: StoredEvent[] = []
  let bytes = 0
  /** Everything after this position is in `events`. */
  let floor = initialPosition
  let lastPosition = initialPosition
  const followers = new Set<() => void>()

  const wake = () => {
    for (const wakeFollower of followers) wakeFollower()
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
    after(position) {
      if (position < floor) return undefined
      const from = firstAfter(events, position)
      return events.slice(from, endOfSlice(events, from))
    },
    follow(signal) {
      let release: (() => void) | undefined
      const wakeUp = () => {
        release?.()
        release = undefined
      }
      followers.add(wakeUp)
      signal.addEventListener('abort', wakeUp)
      return {
        changed(position) {
          const last = events.at(-1)
          if (signal.aborted || position < floor || (last !== undefined && last.position > position)) {
            return Promise.resolve()
          }
          return new Promise((resolve) => {
            release = resolve
          })
        },
        stop() {
          followers.delete(wakeUp)
          signal.removeEventListener('abort', wakeUp)
        },
      }
    },
  }
}

/** The first event always belongs to the slice, however large it is. */
function endOfSlice(events: readonly StoredEvent[], from: number): number {
  let bytes = 0
  let to = from
  while (to < events.length && to - from < maxEventsAtOnce && bytes < maxBytesAtOnce) {
    const event = events[to]
    if (event !== undefined) bytes += sizeOf(event)
    to += 1
  }
  return to
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
