// How many connections a store opens, and when it closes them.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { appendFirst, connectEventStore, withoutKeepalive } from '../testing/eventStoreHarness.ts'
import { startFakeEventStore } from '../testing/fakeEventStore.ts'

t.test('a store that is closed during an outage makes no more connections', async (t) => {
  const port = await freePort()
  const store = connectEventStore(t, withoutKeepalive(port), { appendRetryTimeoutMs: 200, readRetryTimeoutMs: 200 })
  const calls = Array.from({ length: 20 }, (_, n) => [appendFirst(store, `s-${n}`), store.readStream(`s-${n}`)])
  const outcomes = await Promise.allSettled(calls.flat())
  t.ok(outcomes.every(({ status }) => status === 'rejected'))
  await store.close()
  const { accepted } = await startSilentServer(t, port)
  const startedAt = performance.now()
  await waitFor(() => performance.now() - startedAt > 2_500, { what: 'the time in which gRPC would reconnect' })
  t.equal(accepted(), 0)
})

t.test('replaced connections to a silent server are closed', async (t) => {
  const { port, accepted, open } = await startSilentServer(t)
  const store = connectEventStore(t, withoutKeepalive(port), { appendTimeoutMs: 500, appendRetryTimeoutMs: 1_500 })
  await t.rejects(appendFirst(store, 's'), { code: 'event_store_unavailable' })
  t.ok(accepted() > 1, 'the first connection was replaced')
  await waitFor(() => open() <= 1, { what: 'the replaced connections to close' })
})

t.test('a call that gives up replaces its connection, so that the next one gets a response', async (t) => {
  const proxy = await startTcpProxy(t, (await startFakeEventStore(t)).port)
  // As in a long outage, in which each call has the time of one attempt.
  const timing = { appendTimeoutMs: 300, appendRetryTimeoutMs: 300, readTimeoutMs: 300, readRetryTimeoutMs: 300 }
  const store = connectEventStore(t, withoutKeepalive(proxy.port), timing)
  await appendFirst(store, 'before')
  await store.readStream('before')
  proxy.freezeConnections()
  await t.rejects(appendFirst(store, 'during'), { code: 'event_store_unavailable' })
  await t.rejects(store.readStream('before'), { code: 'event_store_unavailable' })
  await t.resolves(appendFirst(store, 'after'))
  await t.resolves(store.readStream('before'))
})

t.test('a connection to a server that never sends a byte is replaced', async (t) => {
  const { port, accepted, open } = await startSilentServer(t)
  const store = connectEventStore(t, withoutKeepalive(port), { appendTimeoutMs: 20_000 })
  const failing = t.rejects(appendFirst(store, 's'), { code: 'event_store_unavailable' })
  await waitFor(() => accepted() > 1 && open() === 1, { what: 'a second connection in place of the first' })
  await store.close()
  await failing
})

/** A server that accepts connections and never sends anything. */
async function startSilentServer(t: Test, requestedPort = 0) {
  const sockets = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket
      .resume()
      .on('error', () => {})
      .on('close', () => sockets.delete(socket))
  }).listen(requestedPort, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, accepted: () => accepted, open: () => sockets.size }
}
