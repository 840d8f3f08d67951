// A subscription skips events of other streams on request, and never its own events.

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

t.test('the checkpoint advances to the end of the log only when a caller waits for it', async (t) => {
  const testStore = await startEventStore(t)
  const store = createEventStore({ connectionString: testStore.connectionString })
  t.teardown(() => store.close())
  await append(store, 'guestToken-mine', 3)
  const sub = subscriberHarness(store, 'guestToken-mine')
  const run = sub.run()
  await waitFor(() => sub.seen.length === 3, { what: 'matching events' })
  for (let round = 0; round < 5; round++) {
    await append(store, `guestToken-other${round}`, 2)
    const head = await store.head()
    t.ok((sub.stored.checkpoint?.commit ?? 0n) < (head?.commit ?? 0n))
    sub.await()
    await waitFor(() => sub.stored.checkpoint?.commit === head?.commit, { what: 'the end of the log' })
  }
  await append(store, 'guestToken-mine', 1)
  await waitFor(() => sub.seen.length === 4, { what: 'the next matching event' })
  await run.stop()
  t.same(sub.interruptions, [])
})

t.test('the checkpoint does not advance over a matching event that has not arrived', async (t) => {
  const log: ScriptedEvent[] = [...others(1, 5), own(6), ...others(7, 3)]
  let deliver = () => {}
  let reads = 0
  const server = await startFakeEventStore(t, {
    log,
    subscription(call) {
      call.write(confirmationMessage())
      deliver = () => call.write(eventMessage(own(6)))
    },
    read(_call, nth, respondNormally) {
      reads = nth
      respondNormally()
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server), prefix)
  const run = sub.run()
  await waitFor(() => server.subscribedAfter.length === 1, { what: 'the subscription' })
  for (let request = 0; request < 4; request++) {
    const before = reads
    sub.await()
    await waitFor(() => reads > before, { what: 'a read of the log' })
  }
  t.same(sub.batches, [])
  deliver()
  await waitFor(() => sub.seen.length === 1, { what: 'the matching event' })
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

/** A subscription in memory; the test resolves its reads of the log. */
function subscriptionHarness(reached: number) {
  const progress: SubscriptionProgress = { reached: at(reached), waiting: true }
  const checkpoints: LogPosition[] = []
  const reads: {
    readonly from: LogPosition | undefined
    readonly resolve: (found: LogPosition | Error | undefined) => void
  }[] = []
  const advance = createCheckpointAdvance(
    {
      lastSkipped: (from) =>
        new Promise((resolve, reject) => {
          reads.push({ from, resolve: (found) => (found instanceof Error ? reject(found) : resolve(found)) })
        }),
    },
    [prefix],
    progress,
    { checkpoint: (position) => void checkpoints.push(position) },
  )
  return { progress, checkpoints, reads, advance }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('a request during a read of the log causes one more read', async (t) => {
  const { reads, checkpoints, advance } = subscriptionHarness(1)
  advance()
  advance()
  advance()
  t.equal(reads.length, 1)
  reads[0]?.resolve(at(5))
  await settled()
  t.same(
    reads.map(({ from }) => from),
    [at(1), at(5)],
  )
  reads[1]?.resolve(undefined)
  await settled()
  t.same(checkpoints, [at(5)])
  advance()
  t.equal(reads.length, 3)
})

t.test('a read result is ignored when later events have arrived meanwhile', async (t) => {
  const { progress, reads, checkpoints, advance } = subscriptionHarness(1)
  advance()
  progress.reached = at(8)
  reads[0]?.resolve(at(5))
  await settled()
  t.same(checkpoints, [])
  t.same(progress.reached, at(8))
})

t.test('the log is not read while events wait in the buffer, and a failed read changes nothing', async (t) => {
  const { progress, reads, checkpoints, advance } = subscriptionHarness(1)
  progress.waiting = false
  advance()
  await settled()
  t.equal(reads.length, 0)
  progress.waiting = true
  advance()
  reads[0]?.resolve(new Error('no event store'))
  await settled()
  t.same(checkpoints, [])
  advance()
  reads[1]?.resolve(at(3))
  await settled()
  t.same(checkpoints, [at(3)])
})

const stepKinds = ['appendOwn', 'appendOther', 'deliver', 'request', 'resolveRead'] as const
type Step = (typeof stepKinds)[number]

/** Every sequence of `length` steps. */
function sequencesOf(length: number): Step[][] {
  if (length === 0) return [[]]
  return sequencesOf(length - 1).flatMap((steps) => stepKinds.map((step) => [...steps, step]))
}

/** Runs the steps. @returns whether a matching event was skipped, and the last checkpoint */
async function play(steps: readonly Step[]): Promise<{ readonly lost: boolean; readonly reached: number }> {
  const log: { readonly number: number; readonly isOwn: boolean }[] = []
  const { progress, reads, checkpoints, advance } = subscriptionHarness(0)
  let delivered = 0
  let resolvedReads = 0
  let lost = false
  for (const step of steps) {
    if (step === 'appendOwn' || step === 'appendOther')
      log.push({ number: log.length + 1, isOwn: step === 'appendOwn' })
    const next = log.find(({ number, isOwn }) => isOwn && number > delivered)
    if (step === 'deliver' && next) {
      delivered = next.number
      progress.reached = at(delivered)
    }
    if (step === 'request') advance()
    const read = step === 'resolveRead' ? reads[resolvedReads] : undefined
    if (read) {
      resolvedReads += 1
      const ahead = log.filter(({ number }) => BigInt(number) > (read.from?.commit ?? 0n))
      read.resolve(ahead.some(({ isOwn }) => isOwn) || ahead.length === 0 ? undefined : at(log.length))
      await settled()
    }
    const reached = Number(checkpoints.at(-1)?.commit ?? 0n)
    lost ||= log.some(({ number, isOwn }) => isOwn && number <= reached && number > delivered)
  }
  return { lost, reached: Number(checkpoints.at(-1)?.commit ?? 0n) }
}

t.test('no interleaving of appends, deliveries and reads skips a matching event', async (t) => {
  const outcomes = await Promise.all(sequencesOf(6).map(play))
  t.equal(outcomes.filter(({ lost }) => lost).length, 0)
  t.ok(outcomes.filter(({ reached }) => reached > 0).length > 100, 'other events are skipped')
})
