// How long the calls of one request wait for the event store, all together.
import { AsyncLocalStorage } from 'node:async_hooks'

/** What a request has waited. Calls that run at the same time count once, and short ones do not: a request may make many. */
type Wait = { spentMs: number; calls: number; since: number }

const current = new AsyncLocalStorage<Wait>()

/** A call has this time even if the ones before took all of it: they may have waited for an election that is over. */
const leastMs = 500

/**
 * Runs what is one request for its caller: all of its calls to the event store together have the time that one of them may
 * take. Otherwise a request with three calls, of which the first two just succeed, would be answered after 15 s. Inside
 * another request it is a part of that.
 */
export function asOneRequest<T>(run: () => T): T {
  if (current.getStore() !== undefined) return run()
  return current.run({ spentMs: 0, calls: 0, since: 0 }, run)
}

/**
 * Runs a call to the event store.
 * @param limitMs what it may take, with all attempts, if it is the only call of its request
 * @param run gets when to give up, by `performance.now()`
 */
export async function boundedCall<T>(limitMs: number, run: (giveUpAt: number) => Promise<T>): Promise<T> {
  const wait = current.getStore()
  const now = performance.now()
  if (wait === undefined) return await run(now + limitMs)
  if (wait.calls++ === 0) wait.since = now
  const leftMs = limitMs - wait.spentMs - (now - wait.since)
  try {
    return await run(now + Math.max(leftMs, Math.min(limitMs, leastMs)))
  } finally {
    const waitedMs = performance.now() - wait.since
    if (--wait.calls === 0 && waitedMs >= leastMs) wait.spentMs += waitedMs
  }
}
