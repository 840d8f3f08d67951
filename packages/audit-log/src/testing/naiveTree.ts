// RFC 6962, section 2.1, word for word: slow, and nothing is shared with the code under test.
import { createHash } from 'node:crypto'

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const naiveLeafHash = (data: Uint8Array) => sha256(Buffer.of(0), data)

/** @param leaves their data */
export function naiveRoot(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256()
  const [first] = leaves
  if (leaves.length === 1 && first !== undefined) return naiveLeafHash(first)
  const k = split(leaves.length)
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)))
}

/** PATH(m, D[n]) */
export function naivePath(m: number, leaves: readonly Uint8Array[]): Buffer[] {
  if (leaves.length === 1) return []
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return m < k ? [...naivePath(m, left), naiveRoot(right)] : [...naivePath(m - k, right), naiveRoot(left)]
}

/** PROOF(m, D[n]) = SUBPROOF(m, D[n], true) */
export function naiveConsistency(m: number, leaves: readonly Uint8Array[], isWhole = true): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [naiveRoot(leaves)]
  const k = split(leaves.length)
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)]
  return m <= k
    ? [...naiveConsistency(m, left, isWhole), naiveRoot(right)]
    : [...naiveConsistency(m - k, right, false), naiveRoot(left)]
}

const split = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}
