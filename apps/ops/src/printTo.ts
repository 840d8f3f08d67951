// Writes output with back-pressure, so that it does not pile up in memory when the reader is slow.
import type { Writable } from 'node:stream'

/** Writes one line. Resolves when the stream has space for another one. */
export type Print = (line: string) => Promise<void>

/** @param output its errors are reported by its own `error` event only */
export function printTo(output: Writable): Print {
  return (line) =>
    new Promise((resolve) => {
      // The callback also runs after the reader has gone, when `drain` never comes.
      if (output.write(`${line}\n`, () => resolve())) resolve()
    })
}
