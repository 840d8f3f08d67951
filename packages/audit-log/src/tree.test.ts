// Roots and proofs: the vectors of Certificate Transparency, and random trees against the recursion of RFC 6962.
import fc from 'fast-check'
import t from 'tap'
import { consistencyProof, inclusionProof, ProofError, verifyConsistency, verifyInclusion } from './proofs.ts'
import { memoryTree } from './testing/memoryTree.ts'
import { naiveConsistency, naivePath, naiveRoot } from './testing/naiveTree.ts'
import { createFrontier, emptyRoot, hashLeaf, treeRoot } from './tree.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
const texts = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'))

/** Leaves, roots and proofs of the tests of github.com/google/certificate-transparency and trillian. */
const ctLeaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const ctRoots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
const ctInclusion: readonly [index: number, size: number, proof: readonly string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
]
const ctConsistency: readonly [oldSize: number, newSize: number, proof: readonly string[]][] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
]
const ct = memoryTree(ctLeaves.map(hex))

t.test('the trees of Certificate Transparency have the published roots', async (t) => {
  const frontier = createFrontier()
  for (const [size, root] of ctRoots.entries()) {
    t.equal((await treeRoot(size, ct.read)).toString('hex'), root)
    t.equal(frontier.root().toString('hex'), root)
    const next = ct.hashes[size]
    if (next !== undefined) frontier.append(next)
  }
  t.equal(frontier.size(), 8)
  t.equal(emptyRoot.toString('hex'), ctRoots[0])
})

t.test('a copy of a frontier grows apart from the original', (t) => {
  const frontier = createFrontier()
  for (const hash of ct.hashes.slice(0, 3)) frontier.append(hash)
  const copy = frontier.copy()
  for (const hash of ct.hashes.slice(3)) copy.append(hash)
  t.same([frontier.size(), frontier.root().toString('hex')], [3, ctRoots[3]])
  t.same([copy.size(), copy.root().toString('hex')], [8, ctRoots[8]])
  t.end()
})

t.test('the trees of Certificate Transparency have the published proofs', async (t) => {
  for (const [index, size, proof] of ctInclusion) t.same(texts(await inclusionProof(index, size, ct.read)), proof)
  for (const [oldSize, newSize, proof] of ctConsistency)
    t.same(texts(await consistencyProof(oldSize, newSize, ct.read)), proof)
})

const leavesOf = (size: number) => Array.from({ length: size }, (_, n) => Buffer.from(`leaf ${n}`))
const anyTree = fc
  .integer({ min: 1, max: 600 })
  .chain((size) => fc.tuple(fc.constant(size), fc.nat(size - 1), fc.integer({ min: 0, max: size })))

t.test('random trees have the roots and proofs of the recursion, and these verify', async () => {
  await fc.assert(
    fc.asyncProperty(anyTree, async ([size, index, oldSize]) => {
      const leaves = leavesOf(size)
      const { hashes, read } = memoryTree(leaves)
      const frontier = createFrontier()
      for (const hash of hashes) frontier.append(hash)
      const root = naiveRoot(leaves)
      const proof = await inclusionProof(index, size, read)
      const consistency = await consistencyProof(oldSize, size, read)
      const oldRoot = naiveRoot(leaves.slice(0, oldSize))
      verifyInclusion({ index, size, leafHash: hashes[index] ?? root, root, proof })
      verifyConsistency({ oldSize, newSize: size, oldRoot, newRoot: root, proof: consistency })
      return (
        root.equals(await treeRoot(size, read)) &&
        root.equals(frontier.root()) &&
        texts(proof).join() === texts(naivePath(index, leaves)).join() &&
        (oldSize === 0 || texts(consistency).join() === texts(naiveConsistency(oldSize, leaves)).join())
      )
    }),
    { numRuns: 60 },
  )
})

t.test('an inclusion proof of something else is rejected, whatever differs', async () => {
  await fc.assert(
    fc.asyncProperty(anyTree, fc.nat(), async ([size, index], choice) => {
      const leaves = leavesOf(size)
      const { hashes, read } = memoryTree(leaves)
      const proof = await inclusionProof(index, size, read)
      const claim = { index, size, leafHash: hashes[index] ?? emptyRoot, root: naiveRoot(leaves), proof }
      const wrong = [
        { ...claim, leafHash: hashLeaf(Buffer.from('another')) },
        { ...claim, root: hashLeaf(Buffer.from('another')) },
        { ...claim, index: index + 1 },
        { ...claim, index: index - 1 },
        { ...claim, proof: [...proof, emptyRoot] },
        ...(proof.length === 0 ? [] : [{ ...claim, proof: proof.slice(1) }, changedAt(claim, choice % proof.length)]),
      ]
      return wrong.every((each) => isRejected(() => verifyInclusion(each)))
    }),
    { numRuns: 60 },
  )
})

t.test('a consistency proof of another tree is rejected, whatever differs', async () => {
  await fc.assert(
    fc.asyncProperty(anyTree, fc.nat(), async ([newSize, , oldSize], choice) => {
      const leaves = leavesOf(newSize)
      const { read } = memoryTree(leaves)
      const proof = await consistencyProof(oldSize, newSize, read)
      const [oldRoot, newRoot] = [naiveRoot(leaves.slice(0, oldSize)), naiveRoot(leaves)]
      const claim = { oldSize, newSize, oldRoot, newRoot, proof }
      const other = hashLeaf(Buffer.from('another'))
      const wrong = [
        { ...claim, oldRoot: other },
        ...(oldSize === 0 ? [] : [{ ...claim, newRoot: other }]),
        { ...claim, proof: [...proof, emptyRoot] },
        { ...claim, oldSize: newSize + 1 },
        ...(proof.length === 0 ? [] : [{ ...claim, proof: proof.slice(1) }, changedAt(claim, choice % proof.length)]),
      ]
      return wrong.every((each) => isRejected(() => verifyConsistency(each)))
    }),
    { numRuns: 60 },
  )
})

t.test('leaves and sizes that a tree does not have are named', async (t) => {
  await t.rejects(inclusionProof(8, 8, ct.read), new ProofError('A tree with 8 leaves has no leaf 8'))
  await t.rejects(inclusionProof(0, 0, ct.read), new ProofError('A tree with 0 leaves has no leaf 0'))
  await t.rejects(consistencyProof(9, 8, ct.read), new ProofError('A tree with 8 leaves cannot extend one with 9'))
})

function changedAt<Claim extends { proof: readonly Buffer[] }>(claim: Claim, at: number): Claim {
  return { ...claim, proof: claim.proof.map((hash, n) => (n === at ? hashLeaf(hash) : hash)) }
}

function isRejected(verify: () => void): boolean {
  try {
    verify()
    return false
  } catch (error) {
    if (error instanceof ProofError) return true
    throw error
  }
}
