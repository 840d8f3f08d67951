// Ends work cleanly on Ctrl-C.
import type { Writable } from 'node:stream'

const signals = ['SIGINT', 'SIGTERM'] as const
/** npm passes Ctrl-C on, so that a command receives it twice. */
const sameSignalMs = 1_000
const exitInterrupted = 130

/**
 * Runs work that ends early and cleanly when its signal aborts. A second Ctrl-C exits at once.
 * @param errors where the interruption is confirmed
 * @param work is awaited in any case
 */
export async function withInterrupt<Result>(
  errors: Writable,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const interruption = new AbortController()
  let since: number | undefined
  const interrupt = () => {
    if (since !== undefined && performance.now() - since > sameSignalMs) process.exit(exitInterrupted)
    if (since !== undefined) return
    since = performance.now()
    errors.write('\nStopping after the current step. Press Ctrl-C again to stop at once.\n')
    interruption.abort()
  }
  for (const signal of signals) process.on(signal, interrupt)
  try {
    return await work(interruption.signal)
  } finally {
    for (const signal of signals) process.removeListener(signal, interrupt)
  }
}
