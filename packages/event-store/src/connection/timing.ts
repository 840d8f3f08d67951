// How long the log may take to answer before a caller is told the truth.

/** All in milliseconds. */
export type EventStoreTiming = {
  /** One append waits this long for its answer; the client itself would wait for ever. */
  readonly appendTimeoutMs: number
  /** An append without a clear answer is repeated, with the same ids, for this long. */
  readonly appendRetryTimeoutMs: number
  /** A read waits this long for its next event, so that a long stream may take its time. */
  readonly readTimeoutMs: number
  /** A read that fails is repeated for this long: long enough for a store that restarts. */
  readonly readRetryTimeoutMs: number
  /** How often a subscription that hears nothing looks whether there was something to hear. */
  readonly lagCheckMs: number
}

export const defaultTiming: EventStoreTiming = {
  appendTimeoutMs: 6_000,
  appendRetryTimeoutMs: 15_000,
  readTimeoutMs: 3_000,
  readRetryTimeoutMs: 5_000,
  lagCheckMs: 10_000,
}
