// The time limit of a provider call. All its requests, pauses and retries share it.
import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<{ endsAt: number }>()

/** Runs `work` within another time limit, in place of the caller's. */
export function withTimeLimit<Result>(ms: number, work: () => Result): Result {
  return current.run({ endsAt: performance.now() + ms }, work)
}

/** Runs `work` with the caller's time limit, or with this one if it has none. */
export function withinTimeLimit<Result>(ms: number, work: () => Result): Result {
  return current.getStore() ? work() : withTimeLimit(ms, work)
}

/** Gives each call of a provider, or of a part of one, its own time limit. */
export function withTimeLimits<Calls extends object>(ms: number, calls: Calls): Calls {
  return new Proxy(calls, {
    get(_, name): unknown {
      const value: unknown = Reflect.get(calls, name)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => withTimeLimit(ms, () => value.apply(calls, args))
    },
  })
}

/** What is left of the current time limit, in ms. */
export function remainingMs(): number {
  const limit = current.getStore()
  if (!limit) throw new Error('A provider call has a time limit')
  return limit.endsAt - performance.now()
}

/** Moves the end of the current time limit, for a pause that does not count. */
export function extendTimeLimit(ms: number): void {
  const limit = current.getStore()
  if (limit) limit.endsAt += ms
}

/**
 * Waits within the time limit for work that others may wait for, too. The work itself continues for them.
 * @param onTimeout returns the result after the timeout; may throw
 * @throws the errors of `work` and `onTimeout`
 */
export async function waitForShared<Value>(work: Promise<Value>, onTimeout: () => Value): Promise<Value> {
  const { promise: over, resolve } = Promise.withResolvers<'over'>()
  const timer = setTimeout(() => resolve('over'), Math.max(0, remainingMs()))
  try {
    const first = await Promise.race([work.then((value) => ({ value })), over])
    return first === 'over' ? onTimeout() : first.value
  } finally {
    clearTimeout(timer)
  }
}
