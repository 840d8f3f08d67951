// A log that was cut, restored from an older backup or replaced is never skipped over.
import type { LogCheckpoint } from '@paylog/domain/events'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { append, connectEventStore } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'

const prefix = 'guestToken-'
const timing = { pollMs: 300 }

/** An event store with some events. */
async function filledStore(t: Test) {
  const testStore = await startEventStore(t)
  const store = connectEventStore(t, testStore, timing)
  await append(store, `${prefix}1`, 10)
  return { store, ...testStore }
}

const mismatch = (fact: RegExp) => ({ name: 'LogMismatchError', message: fact })

async function checkpointAtEnd(t: Test, store: Parameters<typeof followerHarness>[0]): Promise<LogCheckpoint> {
  const sub = followerHarness(store, prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 10, { what: 'all events' })
  await run.stop()
  const { checkpoint } = sub.stored
  if (checkpoint === undefined) throw new Error('There is no checkpoint')
  t.ok(await store.has(checkpoint))
  return checkpoint
}

/** Starts a follower at the checkpoint, and expects that it stops and handles nothing. */
async function assertStops(
  t: Test,
  store: Parameters<typeof followerHarness>[0],
  checkpoint: LogCheckpoint,
  fact: RegExp,
) {
  const sub = followerHarness(store, prefix)
  sub.stored.checkpoint = checkpoint
  await t.rejects(sub.run().running, mismatch(fact))
  t.same(sub.batches, [])
  t.notOk(await store.has(checkpoint))
}

t.test('a follower stops when the log was cut before its checkpoint', async (t) => {
  const { store, cut } = await filledStore(t)
  const checkpoint = await checkpointAtEnd(t, store)
  await cut(3)
  await assertStops(t, store, checkpoint, /has no event there: it was cut, restored or replaced$/)
})

t.test('a follower stops when a cut log has grown beyond its checkpoint', async (t) => {
  const { store, cut } = await filledStore(t)
  const checkpoint = await checkpointAtEnd(t, store)
  await cut(3)
  await append(store, `${prefix}2`, 30)
  await assertStops(t, store, checkpoint, /but the log has /)
})

t.test('a follower stops when the log was replaced by another one', async (t) => {
  const { store, empty } = await filledStore(t)
  const checkpoint = await checkpointAtEnd(t, store)
  await empty()
  await append(store, `${prefix}3`, 30)
  await assertStops(t, store, checkpoint, /but the log has /)
})

t.test('a running follower stops when the log is cut under it', async (t) => {
  for (const later of [0, 30]) {
    const { store, cut } = await filledStore(t)
    const sub = followerHarness(store, prefix)
    const { running } = sub.run()
    const stopped = t.rejects(running, mismatch(/but the log /))
    await waitFor(() => sub.seen.length === 10, { what: 'all events' })
    await cut(3)
    if (later > 0) await append(store, `${prefix}2`, later)
    await stopped
    t.equal(sub.seen.length, 10, `nothing is handled after the cut, with ${later} later events`)
  }
})
