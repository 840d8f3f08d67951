// Batches calls: those that arrive while a statement runs share the next statement.

type PendingCall<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/**
 * Combines many calls into one. A call that finds the database idle runs at once. The others wait until the running
 * statement ends, never for a fixed time, so the batch size follows the load and a single call is not delayed.
 *
 * When one item makes a statement fail, the others succeed without it.
 */
export function batched<Item, Result>(options: {
  /** Runs one statement for all items. @returns a result for each, in their order */
  readonly run: RunBatch<Item, Result>
  /** Items with the same key never share a statement, and keep their order. Without it, all may share one. */
  readonly keyOf?: (item: Item) => string
  readonly maxBatch: number
  /** A statement that takes longer waits for a lock or a dead connection: the next one starts beside it. */
  readonly slowAfterMs: number
}): (item: Item) => Promise<Result> {
  const { run, keyOf = () => undefined, maxBatch, slowAfterMs } = options
  const runningKeys = new Set<string | undefined>()
  let waiting: PendingCall<Item, Result>[] = []
  let isPlanned = false
  let isBusy = false

  /** Starts at the end of this turn of the event loop, so that calls made together share a statement. */
  function plan(): void {
    if (isPlanned || isBusy || waiting.length === 0) return
    isPlanned = true
    setImmediate(start)
  }

  function start(): void {
    isPlanned = false
    const calls = take()
    if (calls.length === 0) return
    isBusy = true
    let isBlocking = true
    const proceed = () => {
      if (isBlocking) isBusy = false
      isBlocking = false
      plan()
    }
    const timer = setTimeout(proceed, slowAfterMs)
    const done = () => {
      clearTimeout(timer)
      for (const { item } of calls) runningKeys.delete(keyOf(item))
      proceed()
    }
    settle(calls, run).then(done, done)
  }

  function take(): readonly PendingCall<Item, Result>[] {
    const taken: PendingCall<Item, Result>[] = []
    const left: PendingCall<Item, Result>[] = []
    for (const call of waiting) {
      const key = keyOf(call.item)
      if (taken.length === maxBatch || runningKeys.has(key)) left.push(call)
      else {
        if (key !== undefined) runningKeys.add(key)
        taken.push(call)
      }
    }
    waiting = left
    return taken
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject })
    plan()
    return promise
  }
}

async function settle<Item, Result>(
  calls: readonly PendingCall<Item, Result>[],
  run: RunBatch<Item, Result>,
): Promise<void> {
  try {
    const results = await run(calls.map(({ item }) => item))
    for (const [index, result] of results.entries()) calls[index]?.resolve(result)
  } catch (error) {
    const half = Math.ceil(calls.length / 2)
    if (calls.length > 1 && isAboutContent(error)) {
      await settle(calls.slice(0, half), run)
      await settle(calls.slice(half), run)
    } else for (const { reject } of calls) reject(error)
  }
}

/**
 * Whether the items caused the error, by the class of its SQLSTATE: data, integrity, deadlock, limit. Other errors (lost
 * connection, full disk, timeout) would also fail the parts.
 */
function isAboutContent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|40|54)...$/.test(String(error.code))
}
