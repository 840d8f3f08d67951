// Combines calls that arrive while a statement runs into the next statement.

type Waiting<Item, Result> = {
  readonly items: readonly Item[]
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  readonly isOver: () => boolean
}

/**
 * Calls `run` with the items of all waiting calls, one run at a time. Each call gets the result of its run.
 * @param options `maxItems` of a run, unless one call has more; `waitMs`: how long a call waits for its result
 * @returns a function that fails with an Error when the time is over, and with the error of `run`
 */
export function createBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<Result>,
  { maxItems, waitMs }: { readonly maxItems: number; readonly waitMs: number },
): (items: readonly Item[]) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    isRunning = true
    for (let calls = take(); calls.length > 0; calls = take()) {
      try {
        const result = await run(calls.flatMap(({ items }) => items))
        for (const { resolve } of calls) resolve(result)
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    }
    isRunning = false
  }

  function take(): Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = []
    let count = 0
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (taken.length > 0 && count + next.items.length > maxItems) break
      waiting.shift()
      if (next.isOver()) continue
      taken.push(next)
      count += next.items.length
    }
    return taken
  }

  return (items) =>
    new Promise((resolve, reject) => {
      let isOver = false
      const timeout = setTimeout(() => {
        isOver = true
        reject(new Error(`no response within ${waitMs} ms`))
      }, waitMs)
      const finish = <Value>(settle: (value: Value) => void) => {
        return (value: Value) => {
          clearTimeout(timeout)
          settle(value)
        }
      }
      waiting.push({ items, resolve: finish(resolve), reject: finish(reject), isOver: () => isOver })
      if (!isRunning) void runAll()
    })
}
