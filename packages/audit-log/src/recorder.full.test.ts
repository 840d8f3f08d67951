// Several recorders, many events, publishing that fails, and a log that was cut.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { append } from '@paylog/event-store/testing/eventStoreHarness'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { recorderHarness } from './testing/recorderHarness.ts'
import { auditFigures, newestCheckpoint, readCheckpoints } from './treeStore.ts'
import { restartTree } from './treeWriter.ts'

const harness = await recorderHarness(t)
const { store, pool, signing, eventStore } = harness
const directory = join(t.testdir({}), 'checkpoints')

t.test('a checkpoint is signed at the latest after ten thousand events, whatever the interval', async (t) => {
  const before = (await newestCheckpoint(pool))?.size ?? 0
  await Promise.all(Array.from({ length: 24 }, (_, n) => append(store, `guestToken-many${n}`, 500)))
  const recorder = harness.start(signing(3_600_000))
  const size = await harness.agrees(t)
  const signed = (await Array.fromAsync(readCheckpoints(pool))).filter((each) => each.size <= size)
  const sizes = signed.map((each) => each.size - before).reverse()
  t.equal(sizes.filter((each) => each > 0).length, 1, String(sizes))
  t.ok(sizes[0] !== undefined && sizes[0] >= 10_000 && sizes[0] <= 10_510, String(sizes))
  await recorder.stop()
})

t.test('of several recorders one keeps the tree, and another one takes over', async (t) => {
  const recorders = [harness.start(signing(200)), harness.start(signing(200)), harness.start(signing(200))]
  const running = () => recorders.filter(({ state }) => state.role === 'running')
  for (let round = 0; round < 3; round++) {
    const [active] = await waitFor(async () => running().length > 0 && running(), { what: 'one to run' })
    if (active === undefined) continue
    t.equal(running().length, 1)
    await append(store, 'guestToken-3', 100)
    await active.stop()
    recorders.splice(recorders.indexOf(active), 1)
  }
  const last = harness.start(signing(200))
  await append(store, 'guestToken-3', 1)
  await harness.agrees(t)
  await last.stop()
})

t.test('an unreachable publishing target is tried again, and blocks neither the tree nor the log', async (t) => {
  const blocked = join(t.testdir({ file: 'in the way' }), 'file')
  const recorder = harness.start(signing(200, String(pathToFileURL(join(blocked, 'checkpoints')))))
  await append(store, 'guestToken-4', 5)
  const pending = await waitFor(
    async () => {
      const last = await newestCheckpoint(pool)
      return last !== undefined && last.recorded_at !== null && last.published_at === null && last
    },
    { what: 'a checkpoint that is not published' },
  )
  t.ok(((await auditFigures(pool)).unpublishedSeconds ?? 0) > 0)
  await recorder.stop()
  const next = harness.start(signing(3_600_000, String(pathToFileURL(directory))))
  const name = `checkpoint-${String(pending.size).padStart(12, '0')}`
  await waitFor(async () => existsSync(join(directory, name)), { what: 'all checkpoints to be published' })
  await next.stop()
})

t.test('a tree that is restarted while its recorder runs is built again, without another event', async (t) => {
  const recorder = harness.start(signing(500))
  await append(store, 'guestToken-5', 5)
  const size = await harness.agrees(t)
  await restartTree(pool)
  t.ok((await harness.agrees(t)) >= size)
  await recorder.stop()
})

t.test('a recorder stops at a log that was cut, says why, and changes nothing', async (t) => {
  const recorder = harness.start(signing(3_600_000))
  const size = await harness.agrees(t)
  await recorder.stop()
  await eventStore.cut(3)
  const next = harness.start(signing(100))
  const stopped = async () => {
    const found = await auditFigures(pool)
    return found.stoppedBecause !== null && found
  }
  const figures = await waitFor(stopped, { what: 'the recorder to stop' })
  t.equal(next.state.role, 'stopped')
  t.match(figures.stoppedBecause, /at position \d+, but the log .*: it was cut, restored or replaced/)
  t.equal(figures.size, size)
  await next.stop()
})
