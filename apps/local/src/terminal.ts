// Output for the person at the terminal. The apps' own logs go to files.

/** A failed start whose message alone explains it: printed without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

export type Terminal = {
  /** Prints whole lines. */
  print(text: string): void
}

export function createTerminal(output: NodeJS.WritableStream): Terminal {
  // A closed terminal or pipe must not stop the system.
  output.on('error', () => undefined)
  return { print: (text) => void output.write(`${text}\n`) }
}

export const silentTerminal: Terminal = { print: () => undefined }
