// Batch sizes while a subscription is behind, and latency when it is not.
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createEventStore } from '../eventStore.ts'
import { append as appendTo } from '../testing/eventStoreHarness.ts'
import { type SubscriberHarness, subscriberHarness } from '../testing/subscriberHarness.ts'
import type { EventBatch } from './batches.ts'

const testStore = await startEventStore(t)
const store = createEventStore({ connectionString: testStore.connectionString })
t.teardown(() => store.close())

const append = (stream: string, count: number) => appendTo(store, stream, count)
const subscriber = (prefix: string, handle?: (batch: EventBatch) => Promise<void> | void) =>
  subscriberHarness(store, prefix, handle)
const sizes = (batches: readonly EventBatch[]) => batches.map(({ events }) => events.length).filter((size) => size > 0)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`

/** The delay of a partial batch while a subscription is behind. */
const batchDelayMs = 200

/** Asserts that single appends are handled at once, each in its own batch. */
async function assertNoBatching(t: Test, prefix: string, sub: SubscriberHarness, rounds: number): Promise<void> {
  const latencies: number[] = []
  const before = sub.seen.length
  for (let n = 1; n <= rounds; n++) {
    const begun = performance.now()
    await append(`${prefix}live${n}`, 1)
    await waitFor(() => sub.seen.length === before + n, { what: 'a live event' })
    latencies.push(performance.now() - begun)
  }
  latencies.sort((a, b) => a - b)
  // A busy machine delays some events; collecting a batch would delay all.
  const quarter = latencies[Math.floor(rounds / 4)] ?? Number.POSITIVE_INFINITY
  t.ok(quarter < batchDelayMs, `a quarter of the events took ${quarter} ms or less`)
  t.same(
    sizes(sub.batches).slice(-rounds),
    Array.from({ length: rounds }, () => 1),
  )
}

t.test('a subscription gets full batches while it is behind, and then each event at once', async (t) => {
  const prefix = freshPrefix()
  for (let block = 0; block < 12; block++) await append(`${prefix}${block}`, 500)
  const gaps: number[] = []
  let last = 0
  const sub = subscriber(prefix, () => {
    gaps.push(performance.now() - last)
    last = performance.now()
  })
  const run = sub.run(500)
  await waitFor(() => sub.seen.length === 6_000, { timeoutMs: 30_000, what: 'history' })
  const behind = sub.batches.findIndex(({ events }) => events.at(-1)?.stream === `${prefix}11`)
  for (const [index, { events }] of sub.batches.slice(0, behind).entries()) {
    const gap = gaps[index] ?? 0
    t.ok(events.length === 500 || gap > batchDelayMs - 20, `${events.length} events after ${gap} ms`)
  }
  await assertNoBatching(t, prefix, sub, 40)
  await run.stop()
  t.same(sub.interruptions, [])
})

t.test('events of other streams at the end of the log delay neither history nor live events', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 3)
  // Too few for a checkpoint, and at the end of the log.
  await append(`${other}a`, 20)
  const sub = subscriber(prefix)
  const run = sub.run(500)
  await waitFor(() => sub.seen.length === 3, { what: 'history' })
  await assertNoBatching(t, prefix, sub, 20)
  await run.stop()
})

t.test('a subscription that falls behind again gets full batches again', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 1)
  const released = Promise.withResolvers<void>()
  const sub = subscriber(prefix, ({ events }) => (events.length > 0 ? released.promise : undefined))
  const run = sub.run(50)
  await waitFor(async () => (await store.lag(undefined, [prefix])).events === 1, { what: 'the first event' })
  for (let block = 0; block < 40; block++) await append(`${prefix}b${block}`, 50)
  released.resolve()
  await waitFor(() => sub.seen.length === 2_001, { what: 'the backlog' })
  await run.stop()
  t.ok(sizes(sub.batches).length < 100, `${sizes(sub.batches)}`)
})

t.test('a store killed while a batch is collected causes no gaps or duplicates', async (t) => {
  const prefix = freshPrefix()
  for (let block = 0; block < 10; block++) await append(`${prefix}a`, 300)
  let isKilled = false
  const sub = subscriber(prefix, async ({ events }) => {
    if (events.length === 0 || isKilled) return
    isKilled = true
    await testStore.kill()
    await testStore.start()
  })
  const run = sub.run(400)
  await waitFor(() => sub.seen.length >= 3_000, { timeoutMs: 30_000, what: 'all events' })
  await run.stop()
  t.same(
    sub.seen,
    Array.from({ length: 3_000 }, (_, n) => `${prefix}a@${n}`),
  )
})
