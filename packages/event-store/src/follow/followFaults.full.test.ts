// Following the log of a fake server that fails, hangs or announces nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import { startEventStore } from '@paylog/testing/eventStore'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createConnections } from '../connection/connection.ts'
import { append, connectEventStore, withoutKeepalive } from '../testing/eventStoreHarness.ts'
import { callsPerConnection, grpcError, type ReadCall, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { followerHarness } from '../testing/followerHarness.ts'
import { confirmationMessage, eventMessage } from '../testing/grpcMessages.ts'
import { createNewEvents } from './newEvents.ts'

const stream = 'guestToken-1'
const prefix = 'guestToken-'
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ stream, number: n + 1 }))
const names = (count: number) => numbered(count).map(({ number }) => `${stream}@${number}`)
const timing = { readTimeoutMs: 1_000, readRetryTimeoutMs: 1_500, pollMs: 200 }

t.test('a follower resumes after reads that fail for longer than they are repeated', async (t) => {
  const log = numbered(10)
  let isDown = false
  const server = await startFakeEventStore(t, {
    log,
    read: (call, _nth, respondNormally) =>
      isDown ? call.emit('error', grpcError(status.UNAVAILABLE)) : respondNormally(),
  })
  const sub = followerHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 10, { what: 'the first events' })
  isDown = true
  log.push(...numbered(20).slice(10))
  await waitFor(() => sub.interruptions.length > 0, { what: 'an interruption' })
  t.equal(sub.connections.at(-1), false, 'it is not connected')
  isDown = false
  await waitFor(() => sub.seen.length === 20 && sub.connections.at(-1), { what: 'the later events' })
  await run.stop()
  t.same(sub.seen, names(20))
  t.same(sub.connections, [true, false, true, false])
})

t.test('a follower resumes after a dropped connection', async (t) => {
  const log = numbered(10)
  const server = await startFakeEventStore(t, { log })
  const proxy = await startTcpProxy(t, server.port)
  const sub = followerHarness(connectEventStore(t, withoutKeepalive(proxy.port), timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.stored.checkpoint?.commit === 10n, { what: 'the first events' })
  log.push(...numbered(20).slice(10))
  proxy.heal()
  await waitFor(() => sub.stored.checkpoint?.commit === 20n, { what: 'the later events' })
  await run.stop()
  t.same(sub.seen, names(20))
})

t.test('a follower finds events that nothing announces, and replaces the silent subscription', async (t) => {
  const log = numbered(3)
  const subscriptions: ReadCall[] = []
  const server = await startFakeEventStore(t, {
    log,
    subscription(call, nth, respondNormally) {
      subscriptions.push(call)
      if (nth > 1) return respondNormally()
      call.write(confirmationMessage())
    },
  })
  const sub = followerHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.length === 3, { what: 'the first events' })
  // The first ones may be found by the look that follows the confirmation.
  for (let count = 4; subscriptions.length === 1; count++) {
    log.push(...numbered(count).slice(-1))
    await waitFor(() => sub.seen.length === count, { what: 'the event that nothing announced' })
  }
  await waitFor(() => subscriptions[0]?.cancelled, { what: 'the silent one to end' })
  t.same(sub.interruptions, [])
  await run.stop()
})

t.test('a follower waits for a slow confirmation while it reads events that nothing announces', async (t) => {
  const log = numbered(3)
  let subscriptions = 0
  const server = await startFakeEventStore(t, {
    log,
    async subscription(_call, nth, respondNormally) {
      subscriptions = nth
      // Longer than the time between two looks at the log.
      await sleep(timing.pollMs * 4)
      respondNormally()
    },
  })
  const sub = followerHarness(connectEventStore(t, server, timing), prefix)
  const run = sub.run()
  const adding = setInterval(() => log.push(...numbered(log.length + 1).slice(-1)), timing.pollMs / 4)
  t.teardown(() => clearInterval(adding))
  await waitFor(() => sub.connections.at(-1), { what: 'the confirmation', timeoutMs: 10_000 })
  t.equal(subscriptions, 1)
  await run.stop()
})

t.test('a follower replaces connections that are dead without a keepalive', async (t) => {
  const testStore = await startEventStore(t)
  const direct = connectEventStore(t, testStore)
  const proxy = await startTcpProxy(t, Number(new URL(testStore.connectionString).port))
  const store = connectEventStore(t, withoutKeepalive(proxy.port), { ...timing, readRetryTimeoutMs: 5_000 })
  const sub = followerHarness(store, prefix)
  const run = sub.run()
  await append(direct, `${prefix}1`, 3)
  await waitFor(() => sub.seen.length === 3, { what: 'the first events' })
  proxy.freezeConnections()
  await append(direct, `${prefix}1`, 3)
  await waitFor(() => sub.seen.length === 6, { what: 'the later events' })
  await append(direct, `${prefix}1`, 3)
  await waitFor(() => sub.seen.length === 9, { what: 'the events after that' })
  await run.stop()
  t.equal(new Set(sub.seen).size, sub.seen.length)
})

t.test('an event that is announced twice, or late, is handled once', async (t) => {
  const log = numbered(2)
  const calls: ReadCall[] = []
  const server = await startFakeEventStore(t, {
    log,
    subscription(call) {
      calls.push(call)
      call.write(confirmationMessage())
    },
  })
  const store = connectEventStore(t, server, { ...timing, pollMs: 60_000 })
  const sub = followerHarness(store, prefix, () => sleep(100))
  const run = sub.run()
  await waitFor(() => sub.seen.length === 2 && sub.connections.at(-1), { what: 'the first events' })
  // Until then the log is read, and what is announced is in it.
  await sleep(500)
  log.push(...numbered(5).slice(2))
  for (const number of [3, 3, 4, 3, 4, 5, 2, 5]) calls[0]?.write(eventMessage({ stream, number }))
  await waitFor(() => sub.stored.checkpoint?.commit === 5n, { what: 'the last event' })
  await run.stop()
  t.same(sub.seen, names(5))
})

t.test('one subscription serves all followers of a store, and ends with the last one', async (t) => {
  let subscriptions = 0
  const log = numbered(10)
  const server = await startFakeEventStore(t, {
    log,
    subscription(_call, nth, respondNormally) {
      subscriptions = nth
      respondNormally()
    },
  })
  const store = connectEventStore(t, server)
  // With one call for each of them, these are more than a server allows on one connection.
  const subs = Array.from({ length: callsPerConnection * 2 + 1 }, () => followerHarness(store, prefix))
  const runs = subs.map((sub) => sub.run())
  await waitFor(() => subs.every(({ seen }) => seen.length === 10), { what: 'all events for every follower' })
  log.push(...numbered(12).slice(10))
  await waitFor(() => subs.every(({ seen }) => seen.length === 12), { what: 'the announced events', timeoutMs: 3_000 })
  t.equal(subscriptions, 1)
  for (const run of runs.slice(1)) await run.stop()
  t.equal(server.openCalls(), 1)
  await runs[0]?.stop()
  await waitFor(() => server.openCalls() === 0, { what: 'the subscription to end' })
})

const sockets = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length

t.test('a stopped follower closes the connection of its subscription', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(10) })
  const store = connectEventStore(t, server)
  await waitFor(() => sockets() === 0, { what: 'the connections of other tests to close' })
  await store.head()
  const forReads = sockets()
  for (let round = 0; round < 3; round++) {
    const sub = followerHarness(store, prefix)
    const run = sub.run()
    await waitFor(() => sub.seen.length === 10 && sockets() > forReads, { what: 'all events' })
    await run.stop()
  }
  await waitFor(() => sockets() <= forReads, { what: 'the connections to close', timeoutMs: 5_000 })
})

t.test('a subscription that several followers replace at the same time leaves no connection open', async (t) => {
  const { connectionString } = await startFakeEventStore(t, { log: numbered(10) })
  await waitFor(() => sockets() === 0, { what: 'the connections of other tests to close' })
  const closing = new AbortController().signal
  const newEvents = createNewEvents({ open: createConnections({ connectionString, closing }).open, closing })
  const remove = newEvents.add({ filter: 'own', onEvent: () => {}, onConnection: () => {} })
  await waitFor(() => newEvents.isConfirmed(), { what: 'the subscription' })
  for (let follower = 0; follower < 3; follower++) newEvents.replace()
  await waitFor(() => newEvents.isConfirmed(), { what: 'the new subscription' })
  remove()
  await waitFor(() => sockets() === 0, { what: 'all connections to close', timeoutMs: 5_000 })
})

t.test('a subscription that the server never confirms is opened again, also when the log is quiet', async (t) => {
  let subscriptions = 0
  const { connectionString } = await startFakeEventStore(t, {
    log: [],
    subscription(_call, nth, respondNormally) {
      subscriptions = nth
      if (nth > 1) respondNormally()
    },
  })
  const closing = new AbortController().signal
  const { open } = createConnections({ connectionString, closing })
  const newEvents = createNewEvents({ open, closing, confirmMs: 200 })
  t.teardown(newEvents.add({ filter: 'own', onEvent: () => {}, onConnection: () => {} }))
  await waitFor(() => newEvents.isConfirmed(), { what: 'the second subscription' })
  await sleep(400)
  t.same([subscriptions, newEvents.isConfirmed()], [2, true], 'the confirmed one stays')
})

t.test('a follower stops at once while the event store is unreachable', async (t) => {
  const sub = followerHarness(connectEventStore(t, withoutKeepalive(await freePort())), prefix)
  sub.stored.checkpoint = { commit: 1n, prepare: 1n, eventId: '00000000-0000-7000-8000-000000000001' }
  const run = sub.run()
  await sleep(200)
  const before = performance.now()
  await run.stop()
  t.ok(performance.now() - before < 3_000, 'without waiting for the store')
})
