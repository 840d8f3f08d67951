// A tree in memory.
import { completeHash, type HashReader, hashLeaf } from '../tree.ts'

/** @returns the leaves' hashes, and a reader of all nodes over them */
export function memoryTree(leaves: readonly Uint8Array[]): {
  readonly hashes: readonly Buffer[]
  readonly read: HashReader
} {
  const hashes = leaves.map(hashLeaf)
  return {
    hashes,
    read: async (nodes) =>
      nodes.map(({ level, index }) => {
        const width = 2 ** level
        const covered = hashes.slice(index * width, (index + 1) * width)
        if (covered.length !== width) throw new Error(`the subtree ${level}/${index} is not complete`)
        return completeHash(covered)
      }),
  }
}
