// How long calls of the event store may take, and how often a follower looks for events by itself.

/** All in milliseconds. */
export type EventStoreTiming = {
  /** Timeout of one append attempt; the client itself would wait for ever. */
  readonly appendTimeoutMs: number
  /** An append with an unknown outcome is repeated, with the same ids, for this long. */
  readonly appendRetryTimeoutMs: number
  /** A read waits this long for its next event; there is no limit for a whole stream. */
  readonly readTimeoutMs: number
  /** A failed read is repeated for this long, which covers a restart of the store. */
  readonly readRetryTimeoutMs: number
  /** How often a follower at the end of the log looks for events that nothing announced. */
  readonly pollMs: number
}

/** A command has an answer after 5 s, also while the event store is down or elects a leader. */
export const defaultTiming: EventStoreTiming = {
  appendTimeoutMs: 3_000,
  appendRetryTimeoutMs: 5_000,
  readTimeoutMs: 3_000,
  readRetryTimeoutMs: 5_000,
  pollMs: 5_000,
}
