// What a reader of the log does at the moment, for those who ask whether it can be relied on.
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { CheckDetails } from '@paylog/runtime/process/health'
import { streamPrefixes } from './streamPrefixes.ts'

export type ReaderState = {
  /** Whether another worker reads, as far as is known, and this one waits to take over. */
  isStandingBy: boolean
  /** Whether the event store has begun to send. */
  isConnected: boolean
}

/** Longer than it takes to notice, and to replace, a connection that went silent while the log was quiet. */
const patienceMs = 15_000

/**
 * A check for readiness: the reader is connected, and what the log holds for it gets handled. A connection that was cut
 * off without a word looks like a quiet one, so the log itself is asked. Standing by is ready.
 *
 * @param options `checkpoint` is how far the log is handled
 */
export function createReaderCheck(options: {
  readonly state: ReaderState
  readonly store: Pick<EventStore, 'subscriptions'>
  readonly checkpoint: () => Promise<LogPosition | undefined>
  readonly now: () => Date
}): () => Promise<CheckDetails> {
  const { state, store, checkpoint, now } = options
  let waiting: { readonly until: LogPosition; readonly since: number } | undefined

  return async () => {
    if (state.isStandingBy) return { role: 'standing by' }
    if (!state.isConnected) return { ok: false, role: 'reader', connected: false }
    const reached = await checkpoint()
    const due = await store.subscriptions.due(reached, streamPrefixes)
    const has = (position: LogPosition) => reached !== undefined && !isAfter(position, reached)
    if (due === undefined) waiting = undefined
    else if (waiting === undefined || has(waiting.until)) waiting = { until: due, since: now().getTime() }
    const stuckMs = waiting === undefined ? 0 : now().getTime() - waiting.since
    const details = { role: 'reader', connected: true, waiting_seconds: Math.round(stuckMs / 1_000) }
    return stuckMs > patienceMs ? { ok: false, ...details } : details
  }
}
