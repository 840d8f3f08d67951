// Finds ports, and says so early when one is taken.
import { findFreePort, listenProblem } from '@paylog/runtime/process/ports'
import { StartError } from './startError.ts'

/** A free port on the loopback interface for each name, all different. */
export async function freePorts<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
  const taken = new Set<number>()
  const found = {} as Record<Name, number>
  for (const name of names) found[name] = await findFreePort(taken)
  return found
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
