// Appending until the answer is clear: the ids make a repeated append harmless.
import { setTimeout as sleep } from 'node:timers/promises'
import { type AppendResult, type EventData, type EventStoreDBClient, NO_STREAM } from '@eventstore/db-client'
import { DomainError } from '@paylog/domain/errors'
import { appendFailure, refusedByStore, unconfirmed, withTimeout } from './failure.ts'
import type { StreamName } from './streamName.ts'
import type { EventStoreTiming } from './timing.ts'

/** A stream's last revision, or that there is none. */
export type Revision = bigint | 'no_stream'

/**
 * Appends the events if the stream is at `expected`. When nobody knows whether they were written, the same append is
 * made again: the store recognises the ids at that revision.
 * @returns `'conflict'` when another writer was faster and nothing was written
 * @throws DomainError `event_store_unavailable` when there was no clear answer for too long, `body_too_large`
 */
export async function appendUntilAnswered(
  client: EventStoreDBClient,
  timing: EventStoreTiming,
  append: { readonly stream: StreamName; readonly expected: Revision; readonly events: EventData[] },
): Promise<AppendResult | 'conflict'> {
  const expectedRevision = append.expected === 'no_stream' ? NO_STREAM : append.expected
  const giveUpAt = Date.now() + timing.appendPatienceMs
  for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      const appending = client.appendToStream(append.stream, append.events, { expectedRevision })
      return await withTimeout(appending, timing.appendTimeoutMs, `Append to ${append.stream}`)
    } catch (error) {
      const failure = appendFailure(error)
      if (failure === 'conflict') return 'conflict'
      if (failure === 'too_large')
        throw new DomainError('body_too_large', 'This is too large to be recorded', undefined, { cause: error })
      if (failure === 'refused') throw refusedByStore(error)
      if (Date.now() + pauseMs > giveUpAt) throw unconfirmed(error)
      await sleep(pauseMs)
    }
  }
}
