// Proofs of RFC 6962, and their verification as in RFC 9162, sections 2.1.3.2 and 2.1.4.2.
import { emptyRoot, type HashReader, hashChildren, type LeafRange, leftSize, rangeHashes } from './tree.ts'

/** A proof does not prove what it should. The message is a sentence. */
export class ProofError extends Error {
  override readonly name = 'ProofError'
}

/**
 * The hashes that lead from a leaf to the root of the first `size` leaves.
 * @throws ProofError when the tree has no such leaf
 */
export async function inclusionProof(index: number, size: number, read: HashReader): Promise<Buffer[]> {
  requireLeaf(index, size)
  const siblings: LeafRange[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + leftSize(to - from)
    if (index < middle) {
      siblings.unshift({ from: middle, to })
      to = middle
    } else {
      siblings.unshift({ from, to: middle })
      from = middle
    }
  }
  return await rangeHashes(siblings, read)
}

/** @throws ProofError unless the proof shows that the tree with this size and root has the leaf at the index */
export function verifyInclusion(claim: {
  readonly index: number
  readonly size: number
  readonly leafHash: Uint8Array
  readonly root: Uint8Array
  readonly proof: readonly Uint8Array[]
}): void {
  const { index, size, leafHash, root, proof } = claim
  requireLeaf(index, size)
  let [node, last] = [index, size - 1]
  let reached = leafHash
  for (const sibling of proof) {
    if (last === 0) throw new ProofError('The proof is too long for a tree of this size')
    if (isOdd(node) || node === last) {
      reached = hashChildren(sibling, reached)
      while (!isOdd(node) && node !== 0) [node, last] = [parent(node), parent(last)]
    } else {
      reached = hashChildren(reached, sibling)
    }
    ;[node, last] = [parent(node), parent(last)]
  }
  if (last !== 0) throw new ProofError('The proof is too short for a tree of this size')
  if (!isSame(reached, root)) throw new ProofError('The proof leads to another root')
}

/**
 * The hashes that show that the first `oldSize` of `newSize` leaves are those of the older tree.
 * @throws ProofError when the older tree is larger
 */
export async function consistencyProof(oldSize: number, newSize: number, read: HashReader): Promise<Buffer[]> {
  requireGrowth(oldSize, newSize)
  if (oldSize === 0) return []
  const ranges: LeafRange[] = []
  let [from, to] = [0, newSize]
  while (to !== oldSize) {
    const middle = from + leftSize(to - from)
    if (oldSize <= middle) {
      ranges.unshift({ from: middle, to })
      to = middle
    } else {
      ranges.unshift({ from, to: middle })
      from = middle
    }
  }
  // The verifier knows the older root, so it is not repeated when it is a complete subtree.
  if (from > 0) ranges.unshift({ from, to })
  return await rangeHashes(ranges, read)
}

/** @throws ProofError unless the proof shows that the new tree begins with the leaves of the old one */
export function verifyConsistency(claim: {
  readonly oldSize: number
  readonly newSize: number
  readonly oldRoot: Uint8Array
  readonly newRoot: Uint8Array
  readonly proof: readonly Uint8Array[]
}): void {
  const { oldSize, newSize, oldRoot, newRoot, proof } = claim
  requireGrowth(oldSize, newSize)
  if (oldSize === newSize || oldSize === 0) {
    if (proof.length > 0) throw new ProofError('The proof is too long for trees of these sizes')
    if (!isSame(oldRoot, oldSize === 0 ? emptyRoot : newRoot))
      throw new ProofError(oldSize === 0 ? 'The older root is not that of an empty tree' : 'The roots differ')
    return
  }
  let [node, last] = [oldSize - 1, newSize - 1]
  while (isOdd(node)) [node, last] = [parent(node), parent(last)]
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof
  if (first === undefined) throw new ProofError('The proof is too short for trees of these sizes')
  let [old, grown] = [first, first]
  for (const hash of rest) {
    if (last === 0) throw new ProofError('The proof is too long for trees of these sizes')
    if (isOdd(node) || node === last) {
      ;[old, grown] = [hashChildren(hash, old), hashChildren(hash, grown)]
      while (!isOdd(node) && node !== 0) [node, last] = [parent(node), parent(last)]
    } else {
      grown = hashChildren(grown, hash)
    }
    ;[node, last] = [parent(node), parent(last)]
  }
  if (last !== 0) throw new ProofError('The proof is too short for trees of these sizes')
  if (!isSame(old, oldRoot)) throw new ProofError('The proof leads to another root of the older tree')
  if (!isSame(grown, newRoot)) throw new ProofError('The proof leads to another root of the newer tree')
}

// Sizes may exceed the 32 bits of bit operations.
const isOdd = (value: number) => value % 2 === 1
const parent = (value: number) => Math.floor(value / 2)
const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

function requireLeaf(index: number, size: number): void {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size))
    throw new ProofError(`A tree with ${size} leaves has no leaf ${index}`)
}

function requireGrowth(oldSize: number, newSize: number): void {
  if (!(Number.isSafeInteger(oldSize) && oldSize >= 0 && oldSize <= newSize))
    throw new ProofError(`A tree with ${newSize} leaves cannot extend one with ${oldSize}`)
}
