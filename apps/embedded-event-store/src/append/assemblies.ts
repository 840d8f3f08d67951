// The unfinished appends of one BatchAppend call, bounded in number and in memory.
import type { Assembly } from './assembly.ts'
import type { PendingBytes } from './pendingBytes.ts'

export type Assemblies = {
  get(id: string): Assembly | undefined
  add(id: string, assembly: Assembly): void
  /** Forgets an append; its later chunks are ignored. */
  remove(id: string): void
  /** Must be called after an assembly has grown. Returns whether it is within the memory limits. */
  account(assembly: Assembly, heldBefore: number): boolean
  clear(): void
}

export function createAssemblies(options: {
  /** Budget shared by all calls. */
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
        // The growth was not reserved; the call fails and clears all of its assemblies.
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
