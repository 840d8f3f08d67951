// The end of the log in memory, shared by all subscribers and bounded in size: a subscriber that falls out of it reads from
// the database again.
import type { StoredEvent } from '../storage/storedEvent.ts'

export type Tail = {
  /** The position up to which everything was published. */
  readonly lastPosition: bigint
  /** Adds committed events in order, and wakes the subscribers. */
  publish(events: readonly StoredEvent[], lastPosition: bigint): void
  /** Drops everything up to a position that was reached without `publish` (a commit whose response was lost). */
  resume(lastPosition: bigint): void
  /** Some events after the position, none at the end; undefined when events after it have been dropped. */
  after(position: bigint): readonly StoredEvent[] | undefined
  /** A follower, which makes repeated waiting at the end cheap. */
  follow(signal: AbortSignal): Follower
}

export type Follower = {
  /** Resolves when there may be more after the position, or when the signal aborts. One call at a time. */
  changed(position: bigint): Promise<void>
  /** Removes the follower, which would otherwise be woken for the life of the process. */
  stop(): void
}

const maxEvents = 16_384
const maxBytes = 16 << 20
/** Trimming copies the array, so it is done for many events at once. */
const trimEvents = 1_024
/** Limits of one `after` call, because a client that does not read keeps its result in memory. */
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
        events.push(withOwnBytes(event))
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

/** The slice has at least one event, however large it is. */
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

/** The bytes of an event are a piece of a network packet, which would stay in memory as a whole: 64 KiB for a small event. */
function withOwnBytes(event: StoredEvent): StoredEvent {
  const { data, metadata } = event
  const bytes = Buffer.allocUnsafeSlow(data.length + metadata.length)
  data.copy(bytes)
  metadata.copy(bytes, data.length)
  return { ...event, data: bytes.subarray(0, data.length), metadata: bytes.subarray(data.length) }
}

/** Ignores the overhead per event, because the number of events is bounded too. */
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
