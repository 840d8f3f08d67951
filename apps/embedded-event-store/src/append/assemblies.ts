// The unfinished appends of one BatchAppend call, bounded in number and in memory.
import type { Assembly } from './assembly.ts'
import type { PendingBytes } from './pendingBytes.ts'

export type Assemblies = {
  get(id: string): Assembly | undefined
  add(id: string, assembly: Assembly): void
  /** Its further chunks are those of an append that is not known. */
  remove(id: string): void
  /** To be called after an assembly has grown. Whether there is room for what it holds. */
  account(assembly: Assembly, heldBefore: number): boolean
  clear(): void
}

export function createAssemblies(options: {
  /** Shared by all calls. */
  readonly held: PendingBytes
  readonly maxAssemblies: number
  readonly maxHeldBytes: number
}): Assemblies {
  const { held, maxAssemblies, maxHeldBytes } = options
  const assemblies = new Map<string, Assembly>()
  let heldHere = 0
  const forget = (assembly: Assembly) => {
    clearTimeout(assembly.timer)
    heldHere -= assembly.heldBytes
    held.release(assembly.heldBytes)
  }
  return {
    get: (id) => assemblies.get(id),
    add: (id, assembly) => assemblies.set(id, assembly),
    remove(id) {
      const assembly = assemblies.get(id)
      if (assembly !== undefined) forget(assembly)
      assemblies.delete(id)
    },
    account(assembly, heldBefore) {
      const grown = assembly.heldBytes - heldBefore
      if (assemblies.size > maxAssemblies || heldHere + grown > maxHeldBytes || !held.take(grown)) {
        // What there was no room for is not held: the call fails, and with it all of its assemblies go.
        assembly.heldBytes = heldBefore
        return false
      }
      heldHere += grown
      return true
    },
    clear() {
      for (const assembly of assemblies.values()) forget(assembly)
      assemblies.clear()
    },
  }
}
