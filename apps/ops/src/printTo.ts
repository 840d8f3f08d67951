// How commands write what they answer: no faster than it is read, so that nothing piles up in memory.
import type { Writable } from 'node:stream'

/** Writes one line, and ends when there is room for another one. */
export type Print = (line: string) => Promise<void>

/** @param output whatever goes wrong with it is told by its own `error` alone */
export function printTo(output: Writable): Print {
  return (line) =>
    new Promise((resolve) => {
      // The callback comes also when nobody reads any more, where `drain` never does.
      if (output.write(`${line}\n`, () => resolve())) resolve()
    })
}
