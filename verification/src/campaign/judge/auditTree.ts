// The log as a Merkle tree, by docs/audit.md and RFC 6962: leaves, roots, and the signed notes that name them.
import { createHash, createPublicKey, verify } from 'node:crypto'

type LeafContent = {
  readonly stream: string
  readonly revision: bigint
  readonly id: string
  readonly type: string
  readonly metadata: string
  readonly data: string
}

const sha256 = (...parts: readonly Uint8Array[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

/** @returns the hash of an event's leaf, in base64 */
export function leafOf({ stream, revision, id, type, metadata, data }: LeafContent): string {
  const head = Buffer.alloc(10)
  head.writeUInt8(0, 0)
  head.writeUInt8(1, 1)
  head.writeBigUInt64BE(revision, 2)
  const parts = [stream, id, type, metadata, data].flatMap((text) => {
    const bytes = Buffer.from(text)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return sha256(head, ...parts).toString('base64')
}

/** @returns the root of the first leaves for each of the sizes, in base64 */
export function rootsAt(leaves: readonly string[], sizes: ReadonlySet<number>): Map<number, string> {
  const roots = new Map<number, string>()
  /** Complete subtrees, the largest first. */
  const subtrees: { readonly height: number; readonly hash: Buffer }[] = []
  for (const [index, leaf] of leaves.entries()) {
    let tree = { height: 0, hash: Buffer.from(leaf, 'base64') }
    for (let last = subtrees.at(-1); last?.height === tree.height; last = subtrees.at(-1)) {
      tree = { height: tree.height + 1, hash: nodeOf(last.hash, tree.hash) }
      subtrees.pop()
    }
    subtrees.push(tree)
    if (sizes.has(index + 1))
      roots.set(
        index + 1,
        subtrees
          .map(({ hash }) => hash)
          .reduceRight((right, left) => nodeOf(left, right))
          .toString('base64'),
      )
  }
  return roots
}

const nodeOf = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right)

export type Checkpoint = { readonly size: number; readonly root: string }

/** @param verifierKey `<name>+<id in hex>+<base64>` @returns `undefined` for a note that this key did not sign */
export function openCheckpoint(note: string, verifierKey: string): Checkpoint | undefined {
  const [name = '', id = '', ...rest] = verifierKey.split('+')
  const [, text = '', signature = ''] = /^([^\n]+\n\d+\n\S+\n)\n— \S+ (\S+)\n$/.exec(note) ?? []
  const bytes = Buffer.from(signature, 'base64')
  const x = Buffer.from(rest.join('+'), 'base64').subarray(1).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const isSigned = bytes.toString('hex', 0, 4) === id && verify(null, Buffer.from(text), key, bytes.subarray(4))
  const [origin, size, root = ''] = text.split('\n')
  return isSigned && origin === name ? { size: Number(size), root } : undefined
}
