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
