// What is not for a subscription is passed over when somebody asks, and what is for it never.

import type { LogPosition } from '@paylog/domain/events'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createEventStore } from '../eventStore.ts'
import { append, connectEventStore } from '../testing/eventStoreHarness.ts'
import { startFakeEventStore } from '../testing/fakeEventStore.ts'
import { confirmationMessage, eventMessage, type ScriptedEvent } from '../testing/grpcMessages.ts'
import { subscriberHarness } from '../testing/subscriberHarness.ts'
import { createCheckpointAdvance, type SubscriptionProgress } from './progress.ts'

const prefix = 'guestToken-'
const own = (number: number) => ({ stream: 'guestToken-1', number })
const others = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ stream: 'guestTokenRequest-1', number: from + n }))
const at = (number: number): LogPosition => ({ commit: BigInt(number), prepare: BigInt(number) })

t.test('at the real node, the end of the log is reached as soon as somebody waits, and not before', async (t) => {
  const node = await startEventStore(t)
  const store = createEventStore({ connectionString: node.connectionString })
  t.teardown(() => store.close())
  await append(store, 'guestToken-mine', 3)
  const sub = subscriberHarness(store, 'guestToken-mine')
  const run = sub.run()
  await waitFor(() => sub.seen.length === 3, { what: 'the own events' })
  for (let round = 0; round < 5; round++) {
    await append(store, `guestToken-other${round}`, 2)
    const head = await store.head()
    t.ok((sub.stored.checkpoint?.commit ?? 0n) < (head?.commit ?? 0n))
    sub.await()
    await waitFor(() => sub.stored.checkpoint?.commit === head?.commit, { what: 'the end of the log' })
  }
  await append(store, 'guestToken-mine', 1)
  await waitFor(() => sub.seen.length === 4, { what: 'the next own event' })
  await run.stop()
  t.same(sub.interruptions, [])
})

t.test('what is for it and has not come yet holds it back, however often somebody asks', async (t) => {
  const log: ScriptedEvent[] = [...others(1, 5), own(6), ...others(7, 3)]
  let deliver = () => {}
  let reads = 0
  const server = await startFakeEventStore(t, {
    log,
    subscription(call) {
      call.write(confirmationMessage())
      deliver = () => call.write(eventMessage(own(6)))
    },
    read(_call, nth, properly) {
      reads = nth
      properly()
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server), prefix)
  const run = sub.run()
  await waitFor(() => server.subscribedAfter.length === 1, { what: 'the subscription' })
  for (let asked = 0; asked < 4; asked++) {
    const before = reads
    sub.await()
    await waitFor(() => reads > before, { what: 'a look at the log' })
  }
  t.same(sub.batches, [])
  deliver()
  await waitFor(() => sub.seen.length === 1, { what: 'the own event' })
  sub.await()
  await waitFor(() => sub.stored.checkpoint?.commit === 9n, { what: 'the end of the log' })
  await run.stop()
  t.same(
    sub.batches.map(({ events, position }) => [events.length, position.commit]),
    [
      [1, 6n],
      [0, 9n],
    ],
  )
})

/** A subscription in memory, whose reads of the log are answered when a test says so. */
function standing(reached: number) {
  const progress: SubscriptionProgress = { reached: at(reached), waiting: true }
  const checkpoints: LogPosition[] = []
  const reads: {
    readonly from: LogPosition | undefined
    readonly answer: (found: LogPosition | Error | undefined) => void
  }[] = []
  const pass = createCheckpointAdvance(
    {
      lastSkipped: (from) =>
        new Promise((resolve, reject) => {
          reads.push({ from, answer: (found) => (found instanceof Error ? reject(found) : resolve(found)) })
        }),
    },
    [prefix],
    progress,
    { checkpoint: (position) => void checkpoints.push(position) },
  )
  return { progress, checkpoints, reads, pass }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('asked while it looks, it looks once more', async (t) => {
  const { reads, checkpoints, pass } = standing(1)
  pass()
  pass()
  pass()
  t.equal(reads.length, 1)
  reads[0]?.answer(at(5))
  await settled()
  t.same(
    reads.map(({ from }) => from),
    [at(1), at(5)],
  )
  reads[1]?.answer(undefined)
  await settled()
  t.same(checkpoints, [at(5)])
  pass()
  t.equal(reads.length, 3)
})

t.test('what it found is dropped when more has come meanwhile', async (t) => {
  const { progress, reads, checkpoints, pass } = standing(1)
  pass()
  progress.reached = at(8)
  reads[0]?.answer(at(5))
  await settled()
  t.same(checkpoints, [])
  t.same(progress.reached, at(8))
})

t.test('it does not look while there is something to take, and a log that cannot be read tells nothing', async (t) => {
  const { progress, reads, checkpoints, pass } = standing(1)
  progress.waiting = false
  pass()
  await settled()
  t.equal(reads.length, 0)
  progress.waiting = true
  pass()
  reads[0]?.answer(new Error('no event store'))
  await settled()
  t.same(checkpoints, [])
  pass()
  reads[1]?.answer(at(3))
  await settled()
  t.same(checkpoints, [at(3)])
})

const happenings = ['own', 'other', 'deliver', 'ask', 'answer'] as const
type Happening = (typeof happenings)[number]

/** Every order in which so many things can happen. */
function storiesOf(length: number): Happening[][] {
  if (length === 0) return [[]]
  return storiesOf(length - 1).flatMap((story) => happenings.map((each) => [...story, each]))
}

/** Plays a story; tells whether something that is for it was passed over, and how far it was passed. */
async function play(story: readonly Happening[]): Promise<{ readonly lost: boolean; readonly passed: number }> {
  const log: { readonly number: number; readonly isOwn: boolean }[] = []
  const { progress, reads, checkpoints, pass } = standing(0)
  let delivered = 0
  let answered = 0
  let lost = false
  for (const each of story) {
    if (each === 'own' || each === 'other') log.push({ number: log.length + 1, isOwn: each === 'own' })
    const next = log.find(({ number, isOwn }) => isOwn && number > delivered)
    if (each === 'deliver' && next) {
      delivered = next.number
      progress.reached = at(delivered)
    }
    if (each === 'ask') pass()
    const read = each === 'answer' ? reads[answered] : undefined
    if (read) {
      answered += 1
      const ahead = log.filter(({ number }) => BigInt(number) > (read.from?.commit ?? 0n))
      read.answer(ahead.some(({ isOwn }) => isOwn) || ahead.length === 0 ? undefined : at(log.length))
      await settled()
    }
    const passed = Number(checkpoints.at(-1)?.commit ?? 0n)
    lost ||= log.some(({ number, isOwn }) => isOwn && number <= passed && number > delivered)
  }
  return { lost, passed: Number(checkpoints.at(-1)?.commit ?? 0n) }
}

t.test('whatever comes when, nothing that is for it is ever passed over', async (t) => {
  const outcomes = await Promise.all(storiesOf(6).map(play))
  t.equal(outcomes.filter(({ lost }) => lost).length, 0)
  t.ok(outcomes.filter(({ passed }) => passed > 0).length > 100, 'and it does pass over the rest')
})
