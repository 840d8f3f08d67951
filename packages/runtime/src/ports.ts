// Ports of this machine: which are free, and why one cannot be listened on.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that Linux gives to outgoing connections, which could take a process's port while it restarts. */
const firstPort = 20_000
const lastPort = 32_000
const attempts = 50

/**
 * @param taken those that are not to be found although they are free; the found one is added
 * @returns a port on the loopback interface that is free now
 */
export async function findFreePort(taken: Set<number>): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(firstPort, lastPort)
    if (taken.has(port) || (await listenProblem('127.0.0.1', port)) !== undefined) continue
    taken.add(port)
    return port
  }
  throw new Error(`No free port was found between ${firstPort} and ${lastPort}.`)
}

/** @returns the error code with which listening fails, or nothing */
export function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
