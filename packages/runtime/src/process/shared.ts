/** A read whose result callers share that come while it is in progress, such as the checks of one health page. */
export function shared<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let pending: Promise<Result> | undefined
  return () => {
    pending ??= read().finally(() => {
      pending = undefined
    })
    return pending
  }
}

/** A read whose result callers share that come until `maxAgeMs` after its start. A failure is not shared afterwards. */
export function reused<Args extends readonly unknown[], Result>(
  maxAgeMs: number,
  read: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  let latest: { readonly at: number; readonly result: Promise<Result> } | undefined
  return (...args) => {
    if (latest !== undefined && performance.now() - latest.at <= maxAgeMs) return latest.result
    const started = { at: performance.now(), result: read(...args) }
    started.result.catch(() => {
      if (latest === started) latest = undefined
    })
    latest = started
    return started.result
  }
}
