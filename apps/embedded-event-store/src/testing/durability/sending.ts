// Sends one attempt until its outcome is certain, always with the same ids and expected revision.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AppendExpectedRevision,
  type EventStoreDBClient,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import type { Attempt, Journal, Place } from './journal.ts'

/** The client can lose an append between two connections and never settle it. */
const responseTimeoutMs = 3_000
const longestPauseMs = 200
/** Longer than any outage of these tests. */
const timeoutMs = 60_000
/** CANCELLED, DEADLINE_EXCEEDED, ABORTED, INTERNAL (a broken connection) and UNAVAILABLE. */
const unclearCodes: readonly unknown[] = [1, 4, 10, 13, 14]
const unclearTypes: readonly unknown[] = ['unavailable', 'cancelled', 'deadline-exceeded', 'timeout']

export type Sender = {
  readonly client: EventStoreDBClient
  /**
   * Always uses Streams/Append. The client keeps the appends of all batch streams of a process in one map, drops them all
   * when one stream fails, and crashes on responses to the others, so only one client per process may use batches.
   */
  readonly unaryOnly: boolean
  readonly journal: Journal
  /** Resolves while a server is ready, so that clients do not run into reconnection back-off. */
  readonly untilUp: () => Promise<void>
}

export type Expectation = AppendExpectedRevision

class NoResponseError extends Error {
  override readonly name = 'NoResponseError'
}

/**
 * Appends the attempt's events.
 * @param options `unary` takes Streams/Append instead of the batch stream
 * @returns the new revision, or the actual revision of the stream
 */
export async function append(
  sender: Sender,
  attempt: Attempt,
  { expected, unary }: { readonly expected: Expectation; readonly unary: boolean },
): Promise<{ readonly revision: bigint } | { readonly rejected: bigint | 'no_stream' | undefined }> {
  const rejection = await sendUntilClear(sender, attempt, async () => {
    // Per-call credentials make the client use Streams/Append; without TLS it does not send them.
    const credentials = unary || sender.unaryOnly ? { credentials: { username: 'anybody', password: 'any' } } : {}
    const result = await sender.client.appendToStream(attempt.stream, [...attempt.events], {
      expectedRevision: expected,
      ...credentials,
    })
    return { revision: result.nextExpectedRevision, position: result.position?.commit }
  })
  if (attempt.outcome.kind === 'acknowledged' && attempt.outcome.revision !== undefined) {
    return { revision: attempt.outcome.revision }
  }
  return { rejected: rejection instanceof WrongExpectedVersionError ? rejection.actualVersion : undefined }
}

/** Deletes or tombstones the attempt's stream, which is at `revision`. */
export async function remove(sender: Sender, attempt: Attempt, revision: bigint): Promise<void> {
  const rejection = await sendUntilClear(sender, attempt, async () => {
    // The client may change between tries, when the server has been replaced.
    const { client } = sender
    const options = { expectedRevision: revision }
    const { position } = await (attempt.kind === 'delete'
      ? client.deleteStream(attempt.stream, options)
      : client.tombstoneStream(attempt.stream, options))
    return { revision: undefined, position: position?.commit }
  })
  if (rejection !== undefined) sender.journal.surprise(`${attempt.kind} of ${attempt.stream}: ${rejection.message}`)
}

async function sendUntilClear(
  { journal, untilUp }: Sender,
  attempt: Attempt,
  send: () => Promise<Place>,
): Promise<WrongExpectedVersionError | StreamDeletedError | undefined> {
  const giveUpAt = performance.now() + timeoutMs
  for (;;) {
    await untilUp()
    attempt.tries += 1
    try {
      journal.acknowledge(attempt, await responseInTime(send()))
      return undefined
    } catch (error) {
      if (error instanceof StreamDeletedError && attempt.kind === 'tombstone' && attempt.tries > 1) {
        // The first try succeeded; a repeated tombstone fails with this error.
        journal.acknowledge(attempt, { revision: undefined, position: undefined })
        return undefined
      }
      if (error instanceof WrongExpectedVersionError || error instanceof StreamDeletedError) {
        journal.recordRejection(attempt)
        return error
      }
      if (!isUnclear(error)) journal.surprise(`${attempt.kind} of ${attempt.stream}: ${String(error)}`)
      if (performance.now() > giveUpAt) throw new Error(`no certain outcome for ${attempt.stream}`, { cause: error })
      await sleep(Math.min(10 * attempt.tries, longestPauseMs))
    }
  }
}

/** @throws NoResponseError */
export async function responseInTime<Result>(response: Promise<Result>): Promise<Result> {
  const giveUp = new AbortController()
  const timeout = sleep(responseTimeoutMs, undefined, { signal: giveUp.signal }).then(() => {
    throw new NoResponseError(`no response within ${responseTimeoutMs} ms`)
  })
  timeout.catch(() => undefined)
  return Promise.race([response, timeout]).finally(() => giveUp.abort())
}

function isUnclear(error: unknown): boolean {
  if (error instanceof NoResponseError) return true
  if (!(error instanceof Error)) return false
  const { type, code } = { type: undefined, code: undefined, ...error }
  return unclearTypes.includes(type) || unclearCodes.includes(code)
}
