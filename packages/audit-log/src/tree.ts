// The Merkle tree of RFC 6962: hashes, and roots from the hashes of complete subtrees.
import { hash } from 'node:crypto'

/**
 * The root of a complete subtree with `2^level` leaves; the one with index 0 covers the first leaves, and so on. Its hash
 * never changes once the tree has all its leaves.
 */
export type TreeNode = { readonly level: number; readonly index: number }

/** Returns the hashes of nodes, in the same order. @throws Error when one is missing */
export type HashReader = (nodes: readonly TreeNode[]) => Promise<readonly Buffer[]>

/** The leaves from `from` on, before `to`. */
export type LeafRange = { readonly from: number; readonly to: number }

export const hashBytes = 32
const leafPrefix = Buffer.of(0)
const nodePrefix = Buffer.of(1)

const sha256 = (...parts: readonly Uint8Array[]) => hash('sha256', Buffer.concat(parts), 'buffer')

/** The root of a tree without leaves. */
export const emptyRoot = sha256()

export const hashLeaf = (data: Uint8Array): Buffer => sha256(leafPrefix, data)

export const hashChildren = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodePrefix, left, right)

/** The hash of the first `size` leaves. */
export async function treeRoot(size: number, read: HashReader): Promise<Buffer> {
  const [root = emptyRoot] = size === 0 ? [] : await rangeHashes([{ from: 0, to: size }], read)
  return root
}

/** The number of leaves in the left subtree of a tree with `size` leaves: the largest power of two below the size. */
export function leftSize(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}

/** The hash of each range, which must be the leaves of a subtree of a larger tree. The nodes are read in one call. */
export async function rangeHashes(ranges: readonly LeafRange[], read: HashReader): Promise<Buffer[]> {
  const nodes = ranges.map(completeSubtrees)
  const hashes = await read(nodes.flat())
  let at = 0
  return nodes.map(({ length }) => {
    at += length
    return foldHashes(hashes.slice(at - length, at))
  })
}

/** The complete subtrees that make up a range, the largest first. */
function completeSubtrees({ from, to }: LeafRange): readonly TreeNode[] {
  const nodes: TreeNode[] = []
  for (let at = from; at < to; ) {
    let level = 0
    while (at + 2 ** (level + 1) <= to) level++
    nodes.push({ level, index: at / 2 ** level })
    at += 2 ** level
  }
  return nodes
}

/** The root over subtrees of decreasing size. */
function foldHashes(hashes: readonly Buffer[]): Buffer {
  return hashes.reduceRight((right, left) => hashChildren(left, right))
}

/** The hash of a complete subtree from the hashes of its leaves or of equally large subtrees, a power of two of them. */
export function completeHash(hashes: readonly Buffer[]): Buffer {
  let row = hashes
  while (row.length > 1)
    row = row.flatMap((left, at) => (at % 2 === 0 ? [hashChildren(left, row[at + 1] ?? left)] : []))
  const [root] = row
  if (root === undefined) throw new Error('A subtree has at least one leaf')
  return root
}

export type Frontier = {
  size(): number
  append(leafHash: Buffer): void
  root(): Buffer
  /** Another tree that begins with the same leaves. */
  copy(): Frontier
}

/** The root of a tree to which leaves are appended, without storing the tree: one hash per bit of its size. */
export const createFrontier = (): Frontier => frontierOf([], 0)

/** The tree of the first `size` leaves, from stored hashes. @throws the errors of `read` */
export async function readFrontier(size: number, read: HashReader): Promise<Frontier> {
  const nodes = completeSubtrees({ from: 0, to: size })
  const hashes = nodes.length === 0 ? [] : await read(nodes)
  const subtrees: (Buffer | undefined)[] = []
  for (const [at, { level }] of nodes.entries()) subtrees[level] = hashes[at]
  return frontierOf(subtrees, size)
}

/** @param subtrees by level: a complete subtree, or nothing */
function frontierOf(subtrees: (Buffer | undefined)[], leaves: number): Frontier {
  let size = leaves
  return {
    size: () => size,
    append(leafHash) {
      let grown = leafHash
      let level = 0
      for (let left = subtrees[level]; left !== undefined; left = subtrees[level]) {
        grown = hashChildren(left, grown)
        subtrees[level++] = undefined
      }
      subtrees[level] = grown
      size++
    },
    root: () => (size === 0 ? emptyRoot : foldHashes(subtrees.filter((hash) => hash !== undefined).reverse())),
    copy: () => frontierOf([...subtrees], size),
  }
}
