// Calls that come while the database is busy with earlier ones go there together, in one statement.

type PendingCall<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>

/**
 * Makes one call out of many. A call that finds the database idle goes at once; the others wait until the statement under
 * way is done, never for time to pass. So how many go together follows from the load, and a single one is as fast as ever.
 *
 * When a statement fails because of what one of them holds, the others succeed without it.
 */
export function batched<Item, Result>(options: {
  /** One statement for all. @returns a result for each, in their order */
  readonly run: RunBatch<Item, Result>
  /** Two items of one key never share a statement, and go in their order. */
  readonly keyOf: (item: Item) => string
  readonly maxBatch: number
  /** A statement that takes longer waits for a lock, or for a connection that is dead: the next one goes beside it. */
  readonly patienceMs: number
}): (item: Item) => Promise<Result> {
  const { run, keyOf, maxBatch, patienceMs } = options
  const keysUnderWay = new Set<string>()
  let waiting: PendingCall<Item, Result>[] = []
  let isPlanned = false
  let isBusy = false

  /** At the end of this turn of the event loop: what came in together goes together. */
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
    let isWaitedFor = true
    const goOn = () => {
      if (isWaitedFor) isBusy = false
      isWaitedFor = false
      plan()
    }
    const timer = setTimeout(goOn, patienceMs)
    const done = () => {
      clearTimeout(timer)
      for (const { item } of calls) keysUnderWay.delete(keyOf(item))
      goOn()
    }
    settle(calls, run).then(done, done)
  }

  function take(): readonly PendingCall<Item, Result>[] {
    const taken: PendingCall<Item, Result>[] = []
    const left: PendingCall<Item, Result>[] = []
    for (const call of waiting) {
      const key = keyOf(call.item)
      if (taken.length === maxBatch || keysUnderWay.has(key)) left.push(call)
      else {
        keysUnderWay.add(key)
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
 * Whether Postgres refused what it was given, by the class of its SQLSTATE: data, integrity, a deadlock, a limit.
 * Everything else (a lost connection, a full disk, a timeout) would meet the parts as it met the whole.
 */
function isAboutContent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|40|54)...$/.test(String(error.code))
}
