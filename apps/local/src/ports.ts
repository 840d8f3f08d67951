// Finds ports, and says so early when one is taken.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { StartError } from './startError.ts'

/** Below the ports that Linux gives to outgoing connections, which could take a part's port while it restarts. */
const firstPort = 20_000
const lastPort = 32_000
const attemptsPerPort = 50

/** A free port on the loopback interface for each name, all different. */
export async function freePorts<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
  const taken = new Set<number>()
  const found = {} as Record<Name, number>
  for (const name of names) {
    found[name] = await freePort(taken)
    taken.add(found[name])
  }
  return found
}

async function freePort(taken: ReadonlySet<number>): Promise<number> {
  for (let attempt = 0; attempt < attemptsPerPort; attempt++) {
    const port = randomInt(firstPort, lastPort)
    if (!taken.has(port) && (await listenProblem('127.0.0.1', port)) === undefined) return port
  }
  throw new StartError(`No free port was found between ${firstPort} and ${lastPort}.`)
}

/** @throws StartError when nobody can listen there now */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const problem = await listenProblem(host, port)
  if (problem === undefined) return
  const reason: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Stop that, or choose another port with PORT.`,
    EACCES: `This user may not listen on port ${port}. Choose one above 1023 with PORT.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Choose another one with HOST.`,
  }
  throw new StartError(reason[problem] ?? `Nothing can listen on port ${port} of ${host} (${problem}).`)
}

/** The error code with which listening fails, or nothing. */
function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
