// Why the system does not start, in one line for the person at the terminal.

/** A refusal to start that is explained by its message alone. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
