// Subscriptions that go silent, and those that only look as if they had.

import { status } from '@grpc/grpc-js'
import { startEventStore } from '@paylog/testing/eventStore'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { append, connectEventStore, withoutKeepalive } from '../testing/eventStoreHarness.ts'
import { grpcError, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { checkpointMessage, confirmationMessage, eventMessage } from '../testing/grpcMessages.ts'
import { subscriberHarness } from '../testing/subscriberHarness.ts'
import { detectSilence, type SubscriptionProgress } from './progress.ts'

const prefix = 'guestToken-'
const own = (number: number) => ({ stream: 'guestToken-1', number })
const others = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ stream: 'payment-1', number: from + n }))
const lagCheckMs = 100
const timing = { lagCheckMs, readTimeoutMs: 500 }

t.test('a subscription that has come to what was missing, and misses something later, is not silent', async (t) => {
  const left = new AbortController()
  const progress: SubscriptionProgress = { reached: undefined, waiting: true }
  let looks = 0
  const due = async () => {
    // What the last look found has come since.
    progress.reached = { commit: BigInt(looks), prepare: 0n }
    looks += 1
    if (looks === 4) left.abort()
    return { commit: BigInt(looks), prepare: 0n }
  }
  await t.rejects(detectSilence({ nextMatching: due, lagCheckMs: 1 }, [prefix], progress, left.signal), {
    name: 'AbortError',
  })
  t.equal(looks, 4)
})

t.test('a subscription that is accepted and then gets nothing is begun again', async (t) => {
  const server = await startFakeEventStore(t, {
    log: [...others(1, 3), own(4)],
    subscription: (call, nth, properly) => (nth === 1 ? call.write(confirmationMessage()) : properly()),
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 1, { what: 'the event that was withheld' })
  await run.stop()
  t.match(sub.interruptions, [{ name: 'SilentSubscriptionError' }])
})

t.test('a subscription that stops in the middle goes on behind what it got', async (t) => {
  const log = [own(1), ...others(2, 5), own(7)]
  const server = await startFakeEventStore(t, {
    log,
    subscription(call, nth, properly) {
      if (nth > 1) return properly()
      call.write(confirmationMessage())
      call.write(eventMessage(own(1)))
      call.write(checkpointMessage({ commit: 3n, prepare: 0n }))
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 2, { what: 'the event that was withheld' })
  await run.stop()
  t.same(server.subscribedAfter, ['start', '3/0'])
})

t.test('a subscription that is told neither events nor checkpoints is begun again', async (t) => {
  const server = await startFakeEventStore(t, {
    log: others(1, 3_000),
    subscription: (call, nth, properly) => (nth === 1 ? call.write(confirmationMessage()) : properly()),
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.stored.checkpoint?.commit === 3_000n, { what: 'the checkpoint of the second subscription' })
  await run.stop()
})

t.test('a subscription with nothing to hear is left alone', async (t) => {
  for (const log of [[], [own(1)]]) {
    let looks = 0
    const server = await startFakeEventStore(t, {
      log,
      read(_call, nth, properly) {
        looks = nth
        properly()
      },
    })
    const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
    const run = sub.run()
    await waitFor(() => looks === 6, { what: 'several looks' })
    await run.stop()
    t.same(sub.interruptions, [])
    t.same(server.subscribedAfter, ['start'])
  }
})

t.test('an event that is on its way while the log is looked at is not missing', async (t) => {
  let looks = 0
  let deliver = () => {}
  const server = await startFakeEventStore(t, {
    log: [own(1)],
    subscription(call) {
      call.write(confirmationMessage())
      deliver = () => call.write(eventMessage(own(1)))
    },
    read(call, nth, properly) {
      looks = nth
      // The first read is that of the log's end, for the size of batches.
      if (nth === 2) call.on('finish', () => setTimeout(deliver, lagCheckMs / 2))
      properly()
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => looks === 4, { what: 'several looks' })
  await run.stop()
  t.same(sub.interruptions, [])
  t.same(sub.seen, ['guestToken-1@1'])
})

t.test('a slow handler is no silent server', async (t) => {
  let looks = 0
  const server = await startFakeEventStore(t, {
    log: Array.from({ length: 100 }, (_, n) => own(n + 1)),
    read(_call, nth, properly) {
      looks = nth
      properly()
    },
  })
  const released = Promise.withResolvers<void>()
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix, () => released.promise)
  const run = sub.run(1)
  const begun = performance.now()
  await waitFor(() => performance.now() - begun > lagCheckMs * 8, { what: 'the time of several looks' })
  t.ok(looks < 4, 'the log is not even read')
  released.resolve()
  await waitFor(() => sub.seen.length >= 100, { what: 'all events' })
  await run.stop()
  t.same(sub.interruptions, [])
  t.same(server.subscribedAfter, ['start'])
})

t.test('events of others without a checkpoint yet are no reason to begin again', async (t) => {
  let looks = 0
  const server = await startFakeEventStore(t, {
    log: [own(1), ...others(2, 31)],
    subscription(call) {
      call.write(confirmationMessage())
      call.write(eventMessage(own(1)))
    },
    read(_call, nth, properly) {
      looks = nth
      properly()
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => looks === 6, { what: 'several looks' })
  await run.stop()
  t.same(sub.interruptions, [])
  t.same(server.subscribedAfter, ['start'])
})

t.test('a store that cannot be read is no reason either', async (t) => {
  let looks = 0
  const server = await startFakeEventStore(t, {
    log: [own(1)],
    subscription: (call) => call.write(confirmationMessage()),
    read(call, nth) {
      looks = nth
      call.emit('error', grpcError(status.UNAVAILABLE))
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, { ...timing, readRetryTimeoutMs: 50 }), prefix)
  const run = sub.run()
  await waitFor(() => looks > 8, { what: 'several looks' })
  await run.stop()
  t.same(sub.interruptions, [])
})

t.test('a connection that dies without a word is noticed on the real node, without its keepalive', async (t) => {
  const node = await startEventStore(t)
  const direct = connectEventStore(t, node, timing)
  const proxy = await startTcpProxy(t, Number(new URL(node.connectionString).port))
  const store = connectEventStore(t, withoutKeepalive(proxy.port), { ...timing, lagCheckMs: 300 })
  const sub = subscriberHarness(store, prefix)
  const run = sub.run()
  await append(direct, `${prefix}1`, 3)
  await waitFor(() => sub.seen.length === 3, { what: 'the first events' })
  proxy.freezeConnections()
  await append(direct, `${prefix}1`, 3)
  await waitFor(() => sub.seen.length === 6, { what: 'the later events' })
  t.match(sub.interruptions, [{ name: 'SilentSubscriptionError' }])
  const before = (await direct.head())?.commit ?? 0n
  // Longer than the 32 events after which a checkpoint is due, and nothing for this subscription among them.
  await append(direct, 'somethingElse-1', 100)
  await append(direct, 'somethingElse-1', 20)
  await waitFor(() => (sub.stored.checkpoint?.commit ?? 0n) > before, { what: 'a checkpoint' })
  await run.stop()
  t.equal(sub.interruptions.length, 1)
  t.equal(new Set(sub.seen).size, sub.seen.length)
})
