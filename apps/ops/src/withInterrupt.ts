// Ctrl-C during work that has to be put down in order.
import type { Writable } from 'node:stream'

const signals = ['SIGINT', 'SIGTERM'] as const
/** Ctrl-C reaches a command that npm runs twice: from the terminal, and from npm. */
const sameSignalMs = 1_000
const exitInterrupted = 130

/**
 * Does work that ends early, and in order, when its signal aborts. Whoever interrupts it twice ends it at once.
 * @param errors where the operator is told that it was understood
 * @param work is waited for in any case
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
    errors.write('\nStopping when what is under way has ended; once more stops at once.\n')
    interruption.abort()
  }
  for (const signal of signals) process.on(signal, interrupt)
  try {
    return await work(interruption.signal)
  } finally {
    for (const signal of signals) process.removeListener(signal, interrupt)
  }
}
