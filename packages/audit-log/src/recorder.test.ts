// A recorder on a real event store: the tree follows the log, checkpoints are signed, recorded and published.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { jsonEvent } from '@eventstore/db-client'
import { append } from '@paylog/event-store/testing/eventStoreHarness'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { openCheckpoint } from './checkpoint.ts'
import { rawEvents, recorderHarness, rootOfEvents } from './testing/recorderHarness.ts'
import { auditFigures, readCheckpoints, readTree } from './treeStore.ts'

const harness = await recorderHarness(t)
const { store, pool, signing, verifier } = harness
const directory = join(t.testdir({}), 'checkpoints')

t.test('without a key the tree has every event of ours, unreadable ones too, and nothing is signed', async (t) => {
  await append(store, 'guestToken-1', 700)
  await store.client.appendToStream('payment-1', jsonEvent({ type: 'Unknown', data: { any: 1 } }))
  const recorder = harness.start()
  await harness.reaches(701)
  await append(store, 'guestToken-2', 20)
  t.equal(await harness.agrees(t), 721)
  t.match(recorder.state, { role: 'running', isConnected: true })
  t.match(await auditFigures(pool), { size: 721, unsignedLeaves: 721, last: undefined, stoppedBecause: null })
  await recorder.stop()
  t.notOk(recorder.state.isConnected)
})

t.test('checkpoints are signed, recorded in the log and published, and only when there is something new', async (t) => {
  const recorder = harness.start(signing(300, String(pathToFileURL(directory))))
  const published = async (count: number) => {
    const all = await Array.fromAsync(readCheckpoints(pool))
    const isDone = all.length >= count && all.every((each) => each.recorded_at !== null && each.published_at !== null)
    return isDone && all
  }
  await waitFor(() => published(1), { what: 'a checkpoint' })
  // Longer than the interval: the checkpoint's own event leads to no other one.
  await waitFor(async () => (await readTree(pool)).size === 722, { what: 'the checkpoint in the tree' })
  await new Promise((resolve) => setTimeout(resolve, 700))
  t.equal((await Array.fromAsync(readCheckpoints(pool))).length, 1)
  await append(store, 'guestToken-1', 5)
  await waitFor(() => published(2), { what: 'the second checkpoint' })
  await recorder.stop()
  const checkpoints = await Array.fromAsync(readCheckpoints(pool))
  const events = await rawEvents(store)
  for (const { size, note } of checkpoints) {
    const expected = { origin: 'example.com/payments', size, root: rootOfEvents(events, size) }
    t.same(openCheckpoint(note, verifier), expected)
    const [recorded] = await store.readStream(`auditCheckpoint-${size}`)
    t.match(recorded, {
      type: 'CheckpointSigned',
      data: { size, note, root_hash: expected.root.toString('base64') },
      metadata: { actor: 'projector', correlationId: `checkpoint-${size}` },
    })
    t.equal(readFileSync(join(directory, `checkpoint-${String(size).padStart(12, '0')}`), 'utf8'), note)
  }
  t.same(checkpoints.map(({ size }) => size).slice(0, 1), [721])
  t.equal(readFileSync(join(directory, 'latest'), 'utf8'), checkpoints.at(-1)?.note)
  t.equal(readdirSync(directory).length, checkpoints.length + 1, 'no drafts are left')
})
