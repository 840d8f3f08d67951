// Subscriptions to a fake server that are interrupted, stopped, or too many for one connection.
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

t.test('an interrupted subscription resumes after its checkpoint', async (t) => {
  const log = numbered(20)
  const cuts: Record<string, (call: ReadCall) => void> = {
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    cancelled: (call) => call.emit('error', grpcError(status.CANCELLED)),
    unknown: (call) => call.emit('error', grpcError(status.UNKNOWN)),
    'an end without an error': (call) => call.end(),
  }
  for (const [name, cut] of Object.entries(cuts)) {
    await t.test(`a subscription resumes after ${name}`, async (t) => {
      const server = await startFakeEventStore(t, {
        log,
        subscription(call, nth, respondNormally) {
          if (nth > 1) return respondNormally()
          call.write(confirmationMessage())
          for (const event of log.slice(0, 10)) call.write(eventMessage(event))
          // Both numbers must be sent back to the server, even if they differ.
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

t.test('a subscription resumes after a dropped connection', async (t) => {
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

t.test('the connected callback reports when a subscription is confirmed and when it ends', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(3) })
  const proxy = await startTcpProxy(t, server.port)
  const reported: boolean[] = []
  const stop = new AbortController()
  const running = runSubscription({
    store: connectEventStore(t, withoutKeepalive(proxy.port)),
    name: 'test',
    streamPrefixes: [prefix],
    start: async () => undefined,
    handle: async () => {},
    maxBatch: 10,
    connected: (isConnected) => reported.push(isConnected),
    signal: stop.signal,
    log: { info() {}, warn() {} },
  })
  await waitFor(() => reported.length === 1, { what: 'the confirmation' })
  proxy.heal()
  await waitFor(() => reported.length === 3, { what: 'the next confirmation' })
  t.strictSame(reported, [true, false, true])
  stop.abort()
  await running
  t.equal(reported.at(-1), false)
})

t.test('failed and stopped subscriptions end at the server', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(1_000) })
  let failures = 5
  const sub = subscriberHarness(connectEventStore(t, server), prefix, () => {
    if (failures-- > 0) throw new Error('database down')
  })
  const run = sub.run(10)
  await waitFor(() => sub.seen.length === 1_000, { what: 'all events', timeoutMs: 20_000 })
  await waitFor(() => server.openCalls() === 1, { what: 'the failed subscriptions to end' })
  t.equal(server.subscribedAfter.length, 6)
  await run.stop()
  await waitFor(() => server.openCalls() === 0, { what: 'the last subscription to end' })
})

t.test('a stopped subscription closes its connection', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(10) })
  const store = connectEventStore(t, server)
  const sockets = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length
  await waitFor(() => sockets() === 0, { what: 'the connections of other tests to close' })
  await store.head()
  const forReads = sockets()
  for (let round = 0; round < 3; round++) {
    const sub = subscriberHarness(store, prefix)
    const run = sub.run()
    await waitFor(() => sub.seen.length === 10, { what: 'all events' })
    t.ok(sockets() > forReads)
    await run.stop()
  }
  // A read connection may have been closing when they were counted.
  await waitFor(() => sockets() <= forReads, { what: 'the connections to close', timeoutMs: 5_000 })
})

t.test('a subscription stops at once while the event store is unreachable', async (t) => {
  const store = createEventStore({ connectionString: `esdb://127.0.0.1:${await freePort()}?tls=false` })
  t.teardown(() => store.close())
  const sub = subscriberHarness(store, prefix)
  sub.stored.checkpoint = { commit: 1n, prepare: 1n }
  const run = sub.run()
  await sleep(200)
  const before = performance.now()
  await run.stop()
  t.ok(performance.now() - before < 3_000, 'without waiting for the store')
})

t.test('a subscription that is stopped while it starts ends at the server', async (t) => {
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
  await waitFor(() => server.openCalls() === 0, { what: 'the subscription to end' })
})

t.test('a process may run more subscriptions than a server allows per connection', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(10) })
  const store = connectEventStore(t, server)
  const subs = Array.from({ length: callsPerConnection * 2 + 1 }, () => subscriberHarness(store, prefix))
  const runs = subs.map((sub) => sub.run())
  await waitFor(() => subs.every(({ seen }) => seen.length === 10), { what: 'all events for every subscription' })
  t.equal((await store.readStream(stream)).length, 10, 'reads still work')
  await Promise.all(runs.map((run) => run.stop()))
})
