// Lets a bounded number of things happen at a time.

/** @returns runs what it is given when it is its turn, in the order in which it was asked */
export function createConcurrencyLimit(limit: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = []
  let free = limit
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
