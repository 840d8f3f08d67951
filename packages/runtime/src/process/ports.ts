// Finds free ports on this machine, and explains why a port cannot be used.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export type PortRange = { readonly first: number; readonly last: number }

/** Below Linux's ports for outgoing connections, which could take a process's port while it restarts. */
const belowOutgoing: PortRange = { first: 20_000, last: 31_999 }
const attempts = 50

/**
 * @param taken ports to skip; every port that was tried is added
 * @returns a port that is currently free on the loopback interface
 */
export async function findFreePort(taken: Set<number>, { first, last } = belowOutgoing): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(first, last + 1)
    if (taken.has(port)) continue
    taken.add(port)
    if ((await listenProblem('127.0.0.1', port)) === undefined) return port
  }
  throw new Error(`No free port found between ${first} and ${last}.`)
}

/** @returns the error code with which listening fails; undefined when it works */
export function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
