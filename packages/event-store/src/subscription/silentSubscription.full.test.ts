// Detection of silent subscriptions, without false alarms.

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

t.test('a subscription that received the missing event and misses a later one is not silent', async (t) => {
  const closed = new AbortController()
  const progress: SubscriptionProgress = { reached: undefined, waiting: true }
  let checks = 0
  const nextMatching = async () => {
    // The event that the last check found has arrived.
    progress.reached = { commit: BigInt(checks), prepare: 0n }
    checks += 1
    if (checks === 4) closed.abort()
    return { commit: BigInt(checks), prepare: 0n }
  }
  await t.rejects(detectSilence({ nextMatching, lagCheckMs: 1 }, [prefix], progress, closed.signal), {
    name: 'AbortError',
  })
  t.equal(checks, 4)
})

t.test('a confirmed subscription that gets no events is replaced', async (t) => {
  const server = await startFakeEventStore(t, {
    log: [...others(1, 3), own(4)],
    subscription: (call, nth, respondNormally) => (nth === 1 ? call.write(confirmationMessage()) : respondNormally()),
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 1, { what: 'the event that was withheld' })
  await run.stop()
  t.match(sub.interruptions, [{ name: 'SilentSubscriptionError' }])
})

t.test('a subscription that goes silent resumes after its last checkpoint', async (t) => {
  const log = [own(1), ...others(2, 5), own(7)]
  const server = await startFakeEventStore(t, {
    log,
    subscription(call, nth, respondNormally) {
      if (nth > 1) return respondNormally()
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

t.test('a subscription that gets neither events nor checkpoints is replaced', async (t) => {
  const server = await startFakeEventStore(t, {
    log: others(1, 3_000),
    subscription: (call, nth, respondNormally) => (nth === 1 ? call.write(confirmationMessage()) : respondNormally()),
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.stored.checkpoint?.commit === 3_000n, { what: 'the checkpoint of the second subscription' })
  await run.stop()
})

t.test('a subscription without matching events is not replaced', async (t) => {
  for (const log of [[], [own(1)]]) {
    let checks = 0
    const server = await startFakeEventStore(t, {
      log,
      read(_call, nth, respondNormally) {
        checks = nth
        respondNormally()
      },
    })
    const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
    const run = sub.run()
    await waitFor(() => checks === 6, { what: 'several checks' })
    await run.stop()
    t.same(sub.interruptions, [])
    t.same(server.subscribedAfter, ['start'])
  }
})

t.test('an event that arrives shortly after a check does not count as missing', async (t) => {
  let checks = 0
  let deliver = () => {}
  const server = await startFakeEventStore(t, {
    log: [own(1)],
    subscription(call) {
      call.write(confirmationMessage())
      deliver = () => call.write(eventMessage(own(1)))
    },
    read(call, nth, respondNormally) {
      checks = nth
      // The first read finds the end of the log, for the batch size.
      if (nth === 2) call.on('finish', () => setTimeout(deliver, lagCheckMs / 2))
      respondNormally()
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => checks === 4, { what: 'several checks' })
  await run.stop()
  t.same(sub.interruptions, [])
  t.same(sub.seen, ['guestToken-1@1'])
})

t.test('a slow handler is not mistaken for a silent server', async (t) => {
  let checks = 0
  const server = await startFakeEventStore(t, {
    log: Array.from({ length: 100 }, (_, n) => own(n + 1)),
    read(_call, nth, respondNormally) {
      checks = nth
      respondNormally()
    },
  })
  const released = Promise.withResolvers<void>()
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix, () => released.promise)
  const run = sub.run(1)
  const begun = performance.now()
  await waitFor(() => performance.now() - begun > lagCheckMs * 8, { what: 'the time of several checks' })
  t.ok(checks < 4, 'the log is not checked')
  released.resolve()
  await waitFor(() => sub.seen.length >= 100, { what: 'all events' })
  await run.stop()
  t.same(sub.interruptions, [])
  t.same(server.subscribedAfter, ['start'])
})

t.test('events of other streams without a checkpoint are not mistaken for silence', async (t) => {
  let checks = 0
  const server = await startFakeEventStore(t, {
    log: [own(1), ...others(2, 31)],
    subscription(call) {
      call.write(confirmationMessage())
      call.write(eventMessage(own(1)))
    },
    read(_call, nth, respondNormally) {
      checks = nth
      respondNormally()
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => checks === 6, { what: 'several checks' })
  await run.stop()
  t.same(sub.interruptions, [])
  t.same(server.subscribedAfter, ['start'])
})

t.test('failed reads of the log are not mistaken for silence', async (t) => {
  let checks = 0
  const server = await startFakeEventStore(t, {
    log: [own(1)],
    subscription: (call) => call.write(confirmationMessage()),
    read(call, nth) {
      checks = nth
      call.emit('error', grpcError(status.UNAVAILABLE))
    },
  })
  const sub = subscriberHarness(connectEventStore(t, server, { ...timing, readRetryTimeoutMs: 50 }), prefix)
  const run = sub.run()
  await waitFor(() => checks > 8, { what: 'several checks' })
  await run.stop()
  t.same(sub.interruptions, [])
})

t.test('a subscription to the embedded event store replaces a dead connection without keepalive', async (t) => {
  const testStore = await startEventStore(t)
  const direct = connectEventStore(t, testStore, timing)
  const proxy = await startTcpProxy(t, Number(new URL(testStore.connectionString).port))
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
  // More than the 32 other events after which a checkpoint is due.
  await append(direct, 'somethingElse-1', 100)
  await append(direct, 'somethingElse-1', 20)
  await waitFor(() => (sub.stored.checkpoint?.commit ?? 0n) > before, { what: 'a checkpoint' })
  await run.stop()
  t.equal(sub.interruptions.length, 1)
  t.equal(new Set(sub.seen).size, sub.seen.length)
})
