// Ports of this machine: which are free, and why one cannot be listened on.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export type PortRange = { readonly first: number; readonly last: number }

/** Below the ports that Linux gives to outgoing connections, which could take a process's port while it restarts. */
const belowOutgoing: PortRange = { first: 20_000, last: 31_999 }
const attempts = 50

/**
 * @param taken those that are not to be found although they are free; each that was tried is added
 * @returns a port on the loopback interface that is free now
 */
export async function findFreePort(taken: Set<number>, { first, last } = belowOutgoing): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(first, last + 1)
    if (taken.has(port)) continue
    taken.add(port)
    if ((await listenProblem('127.0.0.1', port)) === undefined) return port
  }
  throw new Error(`No free port was found from ${first} to ${last}.`)
}

/** @returns the error code with which listening fails, or nothing */
export function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
