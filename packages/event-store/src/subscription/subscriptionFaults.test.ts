// Subscriptions that are cut off, left or crowded, over the wire.
import { setTimeout as sleep } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createEventStore } from '../eventStore.ts'
import { connectEventStore, withoutKeepalive } from '../testing/eventStoreHarness.ts'
import { callsPerConnection, grpcError, type ReadCall, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { checkpointMessage, confirmationMessage, eventMessage } from '../testing/grpcMessages.ts'
import { subscriberHarness } from '../testing/subscriberHarness.ts'
import { runSubscription } from './subscription.ts'

const stream = 'guestToken-1'
const prefix = 'guestToken-'
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ stream, number: n + 1 }))
const names = (count: number) => numbered(count).map(({ number }) => `${stream}@${number}`)
const at = (commit: bigint, prepare = commit) => ({ commit, prepare })

t.test('however a subscription is cut off, it goes on behind what was handled', async (t) => {
  const log = numbered(20)
  const cuts: Record<string, (call: ReadCall) => void> = {
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    cancelled: (call) => call.emit('error', grpcError(status.CANCELLED)),
    unknown: (call) => call.emit('error', grpcError(status.UNKNOWN)),
    'an end without an error': (call) => call.end(),
  }
  for (const [name, cut] of Object.entries(cuts)) {
    await t.test(name, async (t) => {
      const server = await startFakeEventStore(t, {
        log,
        subscription(call, nth, properly) {
          if (nth > 1) return properly()
          call.write(confirmationMessage())
          for (const event of log.slice(0, 10)) call.write(eventMessage(event))
          // Both numbers are told back to the server, also when they differ.
          call.write(checkpointMessage(at(12n, 11n)))
          cut(call)
        },
      })
      const sub = subscriberHarness(connectEventStore(t, server), prefix)
      const run = sub.run()
      await waitFor(() => sub.seen.length >= 18, { what: 'all events' })
      await run.stop()
      t.same(sub.seen, [...names(10), ...names(20).slice(12)])
      t.same(server.subscribedAfter, ['start', '12/11'])
    })
  }
})

t.test('a dropped connection is one more way to be cut off', async (t) => {
  const log = numbered(10)
  const server = await startFakeEventStore(t, { log })
  const proxy = await startTcpProxy(t, server.port)
  const sub = subscriberHarness(connectEventStore(t, withoutKeepalive(proxy.port)), prefix)
  const run = sub.run()
  await waitFor(() => sub.stored.checkpoint?.commit === 10n, { what: 'the first events' })
  log.push(...numbered(20).slice(10))
  proxy.heal()
  await waitFor(() => sub.stored.checkpoint?.commit === 20n, { what: 'the later events' })
  await run.stop()
  t.same(sub.seen, names(20))
})

t.test('it is told when the store begins to send, and when that ended', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(3) })
  const proxy = await startTcpProxy(t, server.port)
  const told: boolean[] = []
  const stop = new AbortController()
  const running = runSubscription({
    store: connectEventStore(t, withoutKeepalive(proxy.port)),
    name: 'test',
    streamPrefixes: [prefix],
    start: async () => undefined,
    handle: async () => {},
    maxBatch: 10,
    connected: (isConnected) => told.push(isConnected),
    signal: stop.signal,
    log: { info() {}, warn() {} },
  })
  await waitFor(() => told.length === 1, { what: 'the beginning' })
  proxy.heal()
  await waitFor(() => told.length === 3, { what: 'the next beginning' })
  t.strictSame(told, [true, false, true])
  stop.abort()
  await running
  t.equal(told.at(-1), false)
})

t.test('whoever leaves a subscription ends it at the server, too', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(1_000) })
  let failures = 5
  const sub = subscriberHarness(connectEventStore(t, server), prefix, () => {
    if (failures-- > 0) throw new Error('database down')
  })
  const run = sub.run(10)
  await waitFor(() => sub.seen.length === 1_000, { what: 'all events', timeoutMs: 20_000 })
  await waitFor(() => server.openCalls() === 1, { what: 'the end of the subscriptions that failed' })
  t.equal(server.subscribedAfter.length, 6)
  await run.stop()
  await waitFor(() => server.openCalls() === 0, { what: 'the end of the last one' })
})

t.test('a subscription that was left keeps no connection', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(10) })
  const store = connectEventStore(t, server)
  const sockets = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length
  await waitFor(() => sockets() === 0, { what: 'the end of what other tests opened' })
  await store.head()
  const forReads = sockets()
  for (let round = 0; round < 3; round++) {
    const sub = subscriberHarness(store, prefix)
    const run = sub.run()
    await waitFor(() => sub.seen.length === 10, { what: 'all events' })
    t.ok(sockets() > forReads)
    await run.stop()
  }
  // One of those for reads may have been on its way out when they were counted.
  await waitFor(() => sockets() <= forReads, { what: 'the end of the connections', timeoutMs: 5_000 })
})

t.test('a stop while nobody answers where the log ends is heard', async (t) => {
  const store = createEventStore({ connectionString: `esdb://127.0.0.1:${await freePort()}?tls=false` })
  t.teardown(() => store.close())
  const sub = subscriberHarness(store, prefix)
  sub.stored.checkpoint = { commit: 1n, prepare: 1n }
  const run = sub.run()
  await sleep(200)
  const before = performance.now()
  await run.stop()
  t.ok(performance.now() - before < 3_000, 'without waiting for a store that may come back')
})

t.test('a stop while the subscription is only beginning is heard', async (t) => {
  const server = await startFakeEventStore(t)
  const stop = new AbortController()
  await runSubscription({
    store: connectEventStore(t, server),
    name: 'test',
    streamPrefixes: [prefix],
    async start() {
      stop.abort()
      return undefined
    },
    handle: async () => {},
    maxBatch: 10,
    signal: stop.signal,
    log: { info() {}, warn() {} },
  })
  await waitFor(() => server.openCalls() === 0, { what: 'the end of the subscription' })
})

t.test('one process may have more subscriptions than a server takes on one connection', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(10) })
  const store = connectEventStore(t, server)
  const subs = Array.from({ length: callsPerConnection * 2 + 1 }, () => subscriberHarness(store, prefix))
  const runs = subs.map((sub) => sub.run())
  await waitFor(() => subs.every(({ seen }) => seen.length === 10), { what: 'all events for every subscription' })
  t.equal((await store.readStream(stream)).length, 10, 'and reads go on, too')
  await Promise.all(runs.map((run) => run.stop()))
})
