// Why the system does not start, in one line for the person at the terminal.

/** A refusal to start that is explained by its message alone. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

// What the person at the terminal reads; the apps' own logs go to files.

export type Terminal = {
  /** Writes whole lines. */
  say(text: string): void
}

export function createTerminal(output: NodeJS.WritableStream): Terminal {
  // A closed terminal or pipe must not take the system down with it.
  output.on('error', () => undefined)
  return { say: (text) => void output.write(`${text}\n`) }
}

/** For a run whose parts should not be seen. */
export const silentTerminal: Terminal = { say: () => undefined }
