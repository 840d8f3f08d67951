// Subscriptions to the embedded event store.
import { jsonEvent } from '@eventstore/db-client'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createEventStore } from '../eventStore.ts'
import { append as appendTo } from '../testing/eventStoreHarness.ts'
import { subscriberHarness } from '../testing/subscriberHarness.ts'
import type { EventBatch } from './batches.ts'

const testStore = await startEventStore(t)
const store = createEventStore({ connectionString: testStore.connectionString })
t.teardown(() => store.close())

const append = (stream: string, count: number) => appendTo(store, stream, count)
const subscriber = (prefix: string, handle?: (batch: EventBatch) => Promise<void> | void) =>
  subscriberHarness(store, prefix, handle)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`
const expected = (stream: string, count: number) => Array.from({ length: count }, (_, n) => `${stream}@${n}`)

t.test('a subscription delivers past and live events of its prefix in order', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 300)
  await append(freshPrefix(), 10)
  const sub = subscriber(prefix)
  const run = sub.run()
  await waitFor(async () => sub.seen.length === 300, { timeoutMs: 10_000, what: 'history' })
  await append(`${prefix}b`, 5)
  await waitFor(async () => sub.seen.length === 305, { timeoutMs: 10_000, what: 'live events' })
  await run.stop()
  t.same(sub.seen, [...expected(`${prefix}a`, 300), ...expected(`${prefix}b`, 5)])
})

t.test('a restarted subscription resumes after its checkpoint', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 20)
  const sub = subscriber(prefix)
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

t.test('a subscription handles nothing while the log ends before its checkpoint', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  const head = await store.head()
  t.ok(head)
  const sub = subscriber(prefix)
  const beyond = (head?.commit ?? 0n) + 1_000_000n
  sub.stored.checkpoint = { commit: beyond, prepare: beyond }
  const run = sub.run()
  await append(`${prefix}a`, 3)
  await waitFor(async () => sub.interruptions.length >= 3, { timeoutMs: 10_000, what: 'several retries' })
  t.ok(sub.interruptions.every((error) => /^Error: The log ends at \d+, before the checkpoint/.test(String(error))))
  t.same(sub.batches, [])
  sub.stored.checkpoint = head
  await waitFor(async () => sub.seen.length === 3, {
    timeoutMs: 10_000,
    what: 'the events after a valid checkpoint',
  })
  await run.stop()
  t.same(sub.seen, expected(`${prefix}a`, 6).slice(3))
})

t.test('a failing handler gets the same events again', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 50)
  let failures = 3
  const sub = subscriber(prefix, ({ events }) => {
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
  const sub = subscriber(prefix, async ({ events, position }) => {
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

t.test('the checkpoint advances over events of other streams', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 1)
  const sub = subscriber(prefix)
  const run = sub.run()
  await waitFor(async () => sub.seen.length === 1, { timeoutMs: 10_000, what: 'the matching event' })
  const other = freshPrefix()
  for (let n = 0; n < 4; n++) await append(`${other}${n}`, 100)
  const head = await store.head()
  await waitFor(async () => (sub.stored.checkpoint?.commit ?? 0n) > (head?.commit ?? 0n) - 100n, {
    timeoutMs: 10_000,
    what: 'a checkpoint near the end of the log',
  })
  await append(`${prefix}a`, 1)
  await waitFor(async () => sub.seen.length === 2, { timeoutMs: 10_000, what: 'the next matching event' })
  await run.stop()
  t.same(sub.seen, expected(`${prefix}a`, 2))
})

t.test('a subscription fails at an unreadable event, after handling all events before it', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  const unreadable = jsonEvent({ type: 'SomethingElse', data: {} })
  await store.client.appendToStream(`${prefix}b`, unreadable)
  await append(`${prefix}c`, 3)
  const sub = subscriber(prefix)
  await t.rejects(sub.run().running, { name: 'UnreadableEventError', message: new RegExp(unreadable.id) })
  t.same(sub.seen, expected(`${prefix}a`, 3))
})

t.test('a subscription survives a killed event store without gaps or duplicates', async (t) => {
  const prefix = freshPrefix()
  const sub = subscriber(prefix)
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

t.test('a stopped subscription leaves no timer', async (t) => {
  const prefix = freshPrefix()
  for (let n = 0; n < 2; n++) await append(`${prefix}${n}`, 500)
  const sub = subscriber(prefix, () => new Promise((resolve) => setTimeout(resolve, 20)))
  for (let round = 0; round < 5; round++) {
    sub.stored.checkpoint = undefined
    const run = sub.run(50)
    await waitFor(async () => sub.stored.checkpoint !== undefined, { timeoutMs: 10_000, what: 'a first batch' })
    await run.stop()
  }
  await waitFor(() => !process.getActiveResourcesInfo().includes('Timeout'), {
    timeoutMs: 5_000,
    what: 'all timers to end',
  })
  t.pass('no timer is left')
})
