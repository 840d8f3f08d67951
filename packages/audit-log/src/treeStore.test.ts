// The stored tree: written in batches of any size, read by nodes, leaves and positions.
import { randomUUID } from 'node:crypto'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { testPool } from '@paylog/testing/testPool'
import t from 'tap'
import { parseCheckpoint } from './checkpoint.ts'
import { leafData, leafHash } from './leaf.ts'
import { newSigningKey, openNote, parseSigningKey, parseVerifierKey, type SigningKey } from './note.ts'
import { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from './proofs.ts'
import { createMemory, InconsistentTreeError, storedSource } from './remembered.ts'
import { signCheckpoint } from './signing.ts'
import { naiveRoot } from './testing/naiveTree.ts'
import { treeRoot } from './tree.ts'
import { coveringCheckpoint, leafIndexes, readCheckpoints, readLeaves, readTree, storedHashes } from './treeStore.ts'
import { createTreeWriter, restartTree, TreeLostError } from './treeWriter.ts'

const { databaseUrl } = await createMigratedDatabase(t)
const pool = testPool(t, databaseUrl)
t.beforeEach(async () => {
  await restartTree(pool)
  await pool.query('truncate audit.checkpoints')
})

/** At positions 100, 103, … */
const eventsFrom = (first: number, count: number, stream = 'payment-1'): RawEvent[] =>
  Array.from({ length: count }, (_, n) => {
    const id = randomUUID()
    const commit = BigInt(100 + (first + n) * 3)
    return {
      id,
      stream,
      revision: BigInt(first + n),
      type: 'Any',
      contentType: 'application/json',
      data: Buffer.from(`{"n":${first + n}}`),
      metadata: Buffer.from('{}'),
      created: new Date(),
      position: { commit, prepare: commit, eventId: id },
    }
  })

async function appendAll(events: readonly RawEvent[], batchSizes: readonly number[]) {
  const writer = createTreeWriter(pool)
  await writer.start()
  let at = 0
  for (const size of batchSizes) {
    const batch = events.slice(at, at + size)
    const position = batch.at(-1)?.position
    if (position !== undefined) await writer.append({ events: batch, position })
    at += size
  }
  return writer
}

async function sign(key: SigningKey) {
  const writer = createTreeWriter(pool)
  await writer.start()
  const verifiers = [parseVerifierKey(key.verifierKey)]
  return await signCheckpoint(pool, writer, createMemory({ key, verifiers }, [storedSource(pool)]))
}

const rootOf = (events: readonly RawEvent[]) => naiveRoot(events.map(leafData))

t.test('batches of any size, continued by new writers, give the tree of all events', async (t) => {
  const events = eventsFrom(0, 66_000)
  // Ends in the middle of tiles, at their ends, and after the first tile of the second level is full.
  const sizes = [1, 255, 256, 3, 509, 1_000, 5_000, 58_512, 464]
  let size = 0
  for (const batch of sizes) {
    await appendAll(events.slice(size, size + batch), [batch])
    size += batch
    t.equal((await readTree(pool)).size, size)
    if (size < 3_000 || size === 66_000)
      t.same(await treeRoot(size, storedHashes(pool)), rootOf(events.slice(0, size)), `${size} leaves`)
  }
  const { position } = await readTree(pool)
  t.same(position, events.at(-1)?.position)
  const { rows } = await pool.query('select level::int, count(*)::int from audit.tiles group by level order by level')
  t.same(rows, [
    { level: 0, count: 258 },
    { level: 1, count: 2 },
    { level: 2, count: 1 },
  ])
  const root = rootOf(events)
  for (const index of [0, 255, 256, 65_535, 65_536, 65_999]) {
    const proof = await inclusionProof(index, size, storedHashes(pool))
    const event = events[index]
    if (event !== undefined) verifyInclusion({ index, size, leafHash: leafHash(event), root, proof })
  }
  for (const oldSize of [1, 256, 257, 65_536]) {
    const proof = await consistencyProof(oldSize, size, storedHashes(pool))
    verifyConsistency({ oldSize, newSize: size, oldRoot: rootOf(events.slice(0, oldSize)), newRoot: root, proof })
  }
  const leaves = []
  for await (const leaf of readLeaves(pool, 20_000)) leaves.push(leaf)
  t.same(
    leaves.map(({ index, position, hash }) => `${index} ${position} ${hash.toString('hex')}`),
    events.slice(0, 20_000).map((event, n) => `${n} ${event.position.commit} ${leafHash(event).toString('hex')}`),
  )
})

t.test('leaves are found by their positions, and other positions are not', async (t) => {
  await appendAll(eventsFrom(0, 700), [300, 400])
  t.same(await leafIndexes(pool, [100n, 103n, 104n, 865n, 868n, 2_197n, 2_200n, 1n, 10_000n]), [
    0,
    1,
    undefined,
    255,
    256,
    699,
    undefined,
    undefined,
    undefined,
  ])
  t.same(await leafIndexes(pool, []), [])
  t.same(await leafIndexes(pool, [2n ** 63n - 1n, 2n ** 63n, 10n ** 19n - 1n]), [undefined, undefined, undefined])
})

t.test('an event that is in the tree already is not appended again', async (t) => {
  const events = eventsFrom(0, 10)
  const writer = await appendAll(events, [10])
  for (const again of [
    events.slice(9),
    [...eventsFrom(10, 2), ...events.slice(9)],
    [...eventsFrom(10, 1), ...eventsFrom(10, 1)],
  ]) {
    const position = again.at(-1)?.position
    if (position !== undefined) await t.rejects(writer.append({ events: again, position }), /in the tree already/)
  }
  t.equal((await readTree(pool)).size, 10)
  t.same(await treeRoot(10, storedHashes(pool)), rootOf(events))
})

t.test('a writer that another one has overtaken changes nothing', async (t) => {
  const events = eventsFrom(0, 10)
  const [position] = events.slice(-1).map((event) => event.position)
  const stale = createTreeWriter(pool)
  await stale.start()
  await appendAll(events, [10])
  if (position !== undefined) await t.rejects(stale.append({ events, position }), TreeLostError)
  t.equal((await readTree(pool)).size, 10)
  t.same(await treeRoot(10, storedHashes(pool)), rootOf(events))
})

t.test('only new events other than checkpoints are signed, and each checkpoint extends the last one', async (t) => {
  const { signingKey, verifierKey } = newSigningKey('example.com/payments')
  const [key, verifier] = [parseSigningKey(signingKey), parseVerifierKey(verifierKey)]
  t.match(await sign(key), { outcome: 'nothing new' })
  // The second size is the first one in the order of texts.
  const events = [...eventsFrom(0, 300), ...eventsFrom(300, 2, 'auditCheckpoint-300'), ...eventsFrom(302, 998)]
  await appendAll(events.slice(0, 300), [300])
  t.same(await sign(key), { outcome: 'signed', size: 300, leaves: 300 })
  await appendAll(events.slice(300, 302), [2])
  t.match(await sign(key), { outcome: 'nothing new' })
  await appendAll(events.slice(302), [998])
  t.same(await sign(key), { outcome: 'signed', size: 1_300, leaves: 998 })
  const checkpoints = await Array.fromAsync(readCheckpoints(pool))
  t.same(
    checkpoints.map(({ note }) => parseCheckpoint(openNote(note, verifier))),
    [300, 1_300].map((size) => ({ origin: 'example.com/payments', size, root: rootOf(events.slice(0, size)) })),
  )
  for (const [size, covering] of [
    [1, 300],
    [300, 300],
    [301, 1_300],
    [1_301, undefined],
  ] as const)
    t.equal((await coveringCheckpoint(pool, size))?.size, covering)
})

t.test('nothing is signed when the stored tree no longer has the root of the last checkpoint', async (t) => {
  const key = parseSigningKey(newSigningKey('example.com/payments').signingKey)
  const events = eventsFrom(0, 400)
  await appendAll(events.slice(0, 300), [300])
  await sign(key)
  await appendAll(events.slice(300), [100])
  await pool.query(
    'update audit.tiles set hashes = set_byte(hashes, 7, get_byte(hashes, 7) # 1) where level = 0 and index = 1',
  )
  await t.rejects(sign(key), InconsistentTreeError)
  await restartTree(pool)
  await appendAll(events.slice(0, 299), [299])
  t.same(await sign(key), { outcome: 'behind', size: 299, signedSize: 300 })
  await appendAll(events.slice(299), [101])
  t.match(await sign(key), { outcome: 'signed', size: 400 }, 'the rebuilt tree extends it')
  await restartTree(pool)
  await appendAll(eventsFrom(0, 500), [500])
  await t.rejects(sign(key), InconsistentTreeError, 'another log')
  t.equal((await Array.fromAsync(readCheckpoints(pool))).length, 2)
})

t.test('a stored tree with a missing tile is an error, not another root', async (t) => {
  await appendAll(eventsFrom(0, 600), [600])
  await pool.query('delete from audit.tiles where level = 0 and index = 1')
  await t.rejects(inclusionProof(300, 600, storedHashes(pool)), { message: 'The stored tree has no tile 0/1' })
  await t.rejects(
    (async () => {
      for await (const { index } of readLeaves(pool, 600)) if (index > 300) t.fail('a leaf of a missing tile')
    })(),
    { message: 'The stored tree has no tile 0/1' },
  )
})
