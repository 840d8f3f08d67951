// Batches calls: those that arrive while a statement runs share the next statement.

type PendingCall<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines many calls into one. A call that finds the database idle runs at once. The others wait until the running
 * statement ends, never for a fixed time, so the batch size follows the load and a single call is not delayed.
 */
export function batched<Item, Result>(options: {
  /** Runs one statement for all items. @returns a result for each, in their order */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly maxBatch: number
  /** A statement that takes longer waits for a lock or a dead connection: the next one starts beside it. */
  readonly slowAfterMs: number
}): (item: Item) => Promise<Result> {
  const { run, maxBatch, slowAfterMs } = options
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
    const calls = waiting.slice(0, maxBatch)
    waiting = waiting.slice(maxBatch)
    isPlanned = false
    isBusy = true
    let isBlocking = true
    const proceed = () => {
      if (isBlocking) isBusy = false
      isBlocking = false
      plan()
    }
    const timer = setTimeout(proceed, slowAfterMs)
    void settle(calls).finally(() => {
      clearTimeout(timer)
      proceed()
    })
  }

  async function settle(calls: readonly PendingCall<Item, Result>[]): Promise<void> {
    try {
      const results = await run(calls.map(({ item }) => item))
      for (const [index, result] of results.entries()) calls[index]?.resolve(result)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    waiting.push({ item, resolve, reject })
    plan()
    return promise
  }
}
