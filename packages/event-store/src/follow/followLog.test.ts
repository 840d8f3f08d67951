// Following the log of the embedded event store.
import { jsonEvent } from '@eventstore/db-client'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import type { EventBatch } from '../read/readBatches.ts'
import { append as appendTo, connectEventStore } from '../testing/eventStoreHarness.ts'
import { type FollowerHarness, followerHarness } from '../testing/followerHarness.ts'

const testStore = await startEventStore(t)
const store = connectEventStore(t, testStore)

const append = (stream: string, count: number) => appendTo(store, stream, count)
const follower = (prefix: string, handle?: (batch: EventBatch) => Promise<void> | void) =>
  followerHarness(store, prefix, handle)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`
const expected = (stream: string, count: number) => Array.from({ length: count }, (_, n) => `${stream}@${n}`)

t.test('a follower gets past and live events of its prefix in order', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 300)
  await append(freshPrefix(), 10)
  const sub = follower(prefix)
  const run = sub.run()
  await waitFor(async () => sub.seen.length === 300, { timeoutMs: 10_000, what: 'history' })
  await append(`${prefix}b`, 5)
  await waitFor(async () => sub.seen.length === 305, { timeoutMs: 10_000, what: 'live events' })
  await run.stop()
  t.same(sub.seen, [...expected(`${prefix}a`, 300), ...expected(`${prefix}b`, 5)])
})

t.test('a restarted follower resumes after its checkpoint', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 20)
  const sub = follower(prefix)
  const first = sub.run(7)
  await waitFor(async () => sub.seen.length === 20, { timeoutMs: 10_000, what: 'the first events' })
  await first.stop()
  t.ok(sub.batches.every(({ events }) => events.length <= 7))
  await append(`${prefix}a`, 20)
  const second = sub.run(7)
  await waitFor(async () => sub.seen.length === 40, { timeoutMs: 10_000, what: 'the later events' })
  await second.stop()
  t.same(sub.seen, expected(`${prefix}a`, 40))
})

t.test('a failing handler gets the same events again', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 50)
  let failures = 3
  const sub = follower(prefix, ({ events }) => {
    if (events.length > 0 && failures-- > 0) throw new Error('database down')
  })
  const run = sub.run(10)
  await waitFor(async () => sub.seen.length === 50, { timeoutMs: 10_000, what: 'all events' })
  await run.stop()
  t.same(sub.seen, expected(`${prefix}a`, 50))
})

t.test('a slow handler gets all events in order, and the checkpoint never runs ahead', async (t) => {
  const prefix = freshPrefix()
  for (let n = 0; n < 3; n++) await append(`${prefix}${n}`, 500)
  let lastPosition = 0n
  const sub = follower(prefix, async ({ events, position }) => {
    const last = events.at(-1)
    t.ok(position.commit >= (last?.position.commit ?? lastPosition))
    if (events[0]) t.ok(events[0].position.commit > lastPosition, 'no event before an earlier checkpoint')
    lastPosition = position.commit
    await new Promise((resolve) => setTimeout(resolve, 5))
  })
  const run = sub.run(100)
  await waitFor(async () => sub.seen.length === 1_500, { timeoutMs: 20_000, what: 'all events' })
  await run.stop()
  t.same(sub.seen, Array.from({ length: 3 }, (_, n) => expected(`${prefix}${n}`, 500)).flat())
})

/** Asserts that single appends are handled at once, each in a batch of one. */
async function assertHandledAtOnce(t: Test, prefix: string, sub: FollowerHarness, rounds: number): Promise<void> {
  const latencies: number[] = []
  const before = sub.seen.length
  for (let n = 1; n <= rounds; n++) {
    const startedAt = performance.now()
    await append(`${prefix}live${n}`, 1)
    await waitFor(() => sub.seen.length === before + n, { what: 'a live event' })
    latencies.push(performance.now() - startedAt)
  }
  latencies.sort((a, b) => a - b)
  // A busy machine delays some events; a follower that waits for its next look would delay all by seconds.
  const half = latencies[Math.floor(rounds / 2)] ?? Number.POSITIVE_INFINITY
  t.ok(half < 500, `half of the events took ${half} ms or less`)
  const sizes = sub.batches.map(({ events }) => events.length).filter((size) => size > 0)
  t.same(
    sizes.slice(-rounds),
    Array.from({ length: rounds }, () => 1),
  )
}

t.test('a follower gets full batches while it is behind, and then each event at once', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  for (let block = 0; block < 4; block++) await append(`${prefix}${block}`, 500)
  await append(`${other}a`, 20)
  const sub = follower(prefix)
  const run = sub.run(400)
  await waitFor(() => sub.seen.length === 2_000, { timeoutMs: 30_000, what: 'history' })
  t.same(
    sub.batches.map(({ events }) => events.length).filter((size) => size > 0),
    Array.from({ length: 5 }, () => 400),
  )
  await assertHandledAtOnce(t, prefix, sub, 15)
  await run.stop()
  t.same(sub.interruptions, [])
})

t.test('the checkpoint moves past events of other streams when it is awaited', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 1)
  const sub = follower(prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 1, { what: 'the matching event' })
  const isAtEnd = async () => sub.stored.checkpoint?.eventId === (await store.head())?.eventId
  await waitFor(isAtEnd, { what: 'the end of the log' })
  for (let round = 0; round < 3; round++) {
    await append(`${other}a`, 100)
    t.notOk(await isAtEnd(), 'events of other streams alone store no checkpoint')
    sub.await()
    await waitFor(isAtEnd, { what: 'the awaited checkpoint', timeoutMs: 2_000 })
  }
  await append(`${prefix}a`, 1)
  await waitFor(() => sub.seen.length === 2, { what: 'the next matching event' })
  await run.stop()
  t.same(sub.seen, expected(`${prefix}a`, 2))
})

t.test('an idle follower moves its checkpoint past events of other streams now and then', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 1)
  const sub = followerHarness(connectEventStore(t, testStore, { pollMs: 300 }), prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 1, { what: 'the matching event' })
  const startedAt = performance.now()
  const before = sub.batches.length
  for (let n = 0; performance.now() - startedAt < 1_500; n++) {
    await append(`${other}${n}`, 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const stored = sub.batches.length - before
  t.ok(stored >= 2 && stored <= 8, `${stored} checkpoints in 1.5 s`)
  await run.stop()
})

t.test('following fails at an unreadable event, after handling all events before it', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  const unreadable = jsonEvent({ type: 'SomethingElse', data: {} })
  await store.client.appendToStream(`${prefix}b`, unreadable)
  await append(`${prefix}c`, 3)
  const sub = follower(prefix)
  await t.rejects(sub.run().running, { name: 'UnreadableEventError', message: new RegExp(unreadable.id) })
  t.same(sub.seen, expected(`${prefix}a`, 3))
})

t.test('a follower survives a killed event store without gaps or duplicates', async (t) => {
  const prefix = freshPrefix()
  const sub = follower(prefix)
  const run = sub.run()
  for (let round = 0; round < 2; round++) {
    const appending = Promise.all(Array.from({ length: 10 }, (_, n) => append(`${prefix}${round}-${n}`, 3)))
    await testStore.kill()
    await testStore.start()
    await appending
  }
  await waitFor(async () => sub.seen.length >= 60, { timeoutMs: 20_000, what: 'all events' })
  await run.stop()
  t.equal(new Set(sub.seen).size, 60)
  t.equal(sub.seen.length, 60)
})

t.test('a stopped follower leaves no timer', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  // Those of the keys of personal data stay.
  const before = timers()
  const prefix = freshPrefix()
  for (let n = 0; n < 2; n++) await append(`${prefix}${n}`, 500)
  const sub = follower(prefix, () => new Promise((resolve) => setTimeout(resolve, 20)))
  for (let round = 0; round < 5; round++) {
    sub.stored.checkpoint = undefined
    const run = sub.run(50)
    await waitFor(async () => sub.stored.checkpoint !== undefined, { timeoutMs: 10_000, what: 'a first batch' })
    await run.stop()
  }
  await waitFor(() => timers() <= before, {
    timeoutMs: 15_000,
    what: 'all timers to end',
  })
  t.pass('no timer is left')
})

t.test("a raw follower gets past and live events of all streams but the server's, unreadable ones too", async (t) => {
  const prefix = freshPrefix()
  const from = await store.head()
  await append(`${prefix}a`, 3)
  await store.client.appendToStream(`${prefix}b`, jsonEvent({ type: 'Unknown', data: {} }))
  await store.client.setStreamMetadata(`${prefix}b`, { note: 'a system event' })
  const seen: string[] = []
  const stop = new AbortController()
  const running = store.followRaw({
    name: 'raw',
    start: async () => from,
    handle: async ({ events }) => {
      seen.push(...events.map(({ stream, revision, type }) => `${stream}@${revision} ${type}`))
    },
    maxBatch: 2,
    signal: stop.signal,
    log: { warn: (detail) => t.fail(JSON.stringify(detail)), debug: () => undefined },
  })
  await waitFor(async () => seen.length === 4, { timeoutMs: 10_000, what: 'past events' })
  await append(`${prefix}c`, 2)
  await store.client.appendToStream(`${prefix}b`, jsonEvent({ type: 'Unknown', data: {} }))
  await waitFor(async () => seen.length === 7, { timeoutMs: 10_000, what: 'live events' })
  stop.abort()
  await running
  const own = (stream: string, count: number) => expected(stream, count).map((name) => `${name} GuestTokenSeen`)
  t.same(seen, [...own(`${prefix}a`, 3), `${prefix}b@0 Unknown`, ...own(`${prefix}c`, 2), `${prefix}b@1 Unknown`])
})
