// Appends on connections that break, hang or return invalid responses.

import { jsonEvent } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createConnections } from '../connection/connection.ts'
import {
  appendFirst,
  connectEventStore,
  guestTokenSeen,
  metadata,
  withoutKeepalive,
} from '../testing/eventStoreHarness.ts'
import {
  assertOneAppend,
  type BatchCall,
  grpcError,
  startFakeEventStore,
  supportedMethods,
} from '../testing/fakeEventStore.ts'
import { failureReply, strayReply, successReply } from '../testing/grpcMessages.ts'
import { defaultTiming } from '../timing.ts'
import { appendWithRetries } from './append.ts'

const quick = { appendTimeoutMs: 1_000, appendRetryTimeoutMs: 5_000 }

t.test('an append without a response is repeated over a new connection, and the old streams are closed', async (t) => {
  const server = await startFakeEventStore(t, {
    append: (call, request, nth) => nth >= 3 && call.write(successReply(request, 0)),
  })
  await appendFirst(connectEventStore(t, server, quick), 's')
  assertOneAppend(t, server)
  await waitFor(() => server.openCalls() === 1, { what: 'the abandoned streams to end' })
})

t.test('two appends that time out on the same connection replace it once', async (t) => {
  let streams = 0
  const server = await startFakeEventStore(t, {
    append(call, request, nth) {
      streams = nth
      if (nth > 1) call.write(successReply(request, 0))
    },
  })
  const store = connectEventStore(t, server, { appendTimeoutMs: 1_000 })
  const startedAt = performance.now()
  const first = appendFirst(store, 's-1')
  await waitFor(() => performance.now() - startedAt > 500, { what: 'half of the timeout' })
  await Promise.all([first, appendFirst(store, 's-2')])
  await appendFirst(store, 's-3')
  t.equal(streams, 2)
})

t.test('a slow append still gets its response on a connection that another append has replaced', async (t) => {
  const delayed: (() => void)[] = []
  const server = await startFakeEventStore(t, {
    append(call, request, nth) {
      const respond = () => call.write(successReply(request, 0))
      if (nth > 1) {
        for (const release of delayed) release()
        respond()
      } else if (server.appends.at(-1)?.stream === 'slow') {
        delayed.push(respond)
      }
    },
  })
  const store = connectEventStore(t, server, { appendTimeoutMs: 1_000 })
  const startedAt = performance.now()
  const silent = appendFirst(store, 'silent')
  await waitFor(() => server.appends.length === 1, { what: 'an append without a response' })
  await waitFor(() => performance.now() - startedAt > 500, { what: 'half of the timeout' })
  await Promise.all([silent, appendFirst(store, 'slow')])
  t.same(
    server.appends.map(({ stream }) => stream),
    ['silent', 'slow', 'silent'],
  )
})

t.test('an append replaces a dead connection without waiting for its keepalive', async (t) => {
  const server = await startFakeEventStore(t)
  const proxy = await startTcpProxy(t, server.port)
  const store = connectEventStore(t, withoutKeepalive(proxy.port), quick)
  await appendFirst(store, 'before')
  proxy.freezeConnections()
  await appendFirst(store, 'after')
  t.same(
    server.appends.map(({ stream }) => stream),
    ['before', 'after'],
  )
})

t.test('the query for supported methods is repeated when it fails or hangs', async (t) => {
  for (const misbehave of [() => {}, (respond: (error: object) => void) => respond(grpcError(status.INTERNAL))]) {
    const server = await startFakeEventStore(t, {
      supportedMethods: (respond, nth) => (nth === 1 ? misbehave(respond) : respond(null, supportedMethods())),
    })
    await appendFirst(connectEventStore(t, server, quick), 's')
    assertOneAppend(t, server, 1)
  }
})

t.test('appends are repeated at once when their stream ends, with or without an error', async (t) => {
  const endings: Record<string, (call: BatchCall) => void> = {
    ok: (call) => call.end(),
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    cancelled: (call) => call.emit('error', grpcError(status.CANCELLED)),
    aborted: (call) => call.emit('error', grpcError(status.ABORTED)),
    unknown: (call) => call.emit('error', grpcError(status.UNKNOWN)),
    'deadline exceeded': (call) => call.emit('error', grpcError(status.DEADLINE_EXCEEDED)),
  }
  for (const [reason, end] of Object.entries(endings)) {
    await t.test(`an append is repeated when its stream ends: ${reason}`, async (t) => {
      const server = await startFakeEventStore(t, {
        append: (call, request, nth) => (nth === 1 ? end(call) : call.write(successReply(request, 0))),
      })
      await appendFirst(connectEventStore(t, server, { appendTimeoutMs: 20_000 }), 's')
      assertOneAppend(t, server, 2)
    })
  }
})

t.test('an append waits for a server that is still starting', async (t) => {
  const port = await freePort()
  const store = connectEventStore(t, withoutKeepalive(port))
  let isSettled = false
  const appending = appendFirst(store, 's').finally(() => {
    isSettled = true
  })
  await t.rejects(store.client.appendToStream('s', jsonEvent({ type: 'T', data: {} })), { code: 14 })
  t.equal(isSettled, false)
  const server = await startFakeEventStore(t, { port })
  await appending
  assertOneAppend(t, server, 1)
})

t.test('an unexpected or unreadable response does not break the process', async (t) => {
  const server = await startFakeEventStore(t, {
    append(call, request, nth) {
      call.write(strayReply(request))
      const unreadable = failureReply(request, 2, '')
      unreadable.getError()?.clearDetails()
      call.write(nth === 1 ? unreadable : successReply(request, 0))
    },
  })
  await appendFirst(connectEventStore(t, server, quick), 's')
  assertOneAppend(t, server, 2)
})

t.test('a pending append is repeated when the connection of another store breaks', async (t) => {
  const delayed: (() => void)[] = []
  const healthy = await startFakeEventStore(t, {
    append(call, request) {
      delayed.push(() => call.write(successReply(request, 0)))
      // The first response comes too late, when no append waits for it any more.
      if (delayed.length === 2) for (const respond of delayed) respond()
    },
  })
  const breaking = await startFakeEventStore(t, {
    append: (call, request, nth) =>
      nth === 1 ? call.emit('error', grpcError(status.UNAVAILABLE)) : call.write(successReply(request, 0)),
  })
  const appending = appendFirst(connectEventStore(t, healthy), 's')
  await waitFor(() => delayed.length === 1, { what: 'an append that waits for its response' })
  await appendFirst(connectEventStore(t, breaking), 's')
  await appending
  assertOneAppend(t, healthy, 2)
})

t.test('an append stream that breaks is reopened on the same connection', async (t) => {
  const server = await startFakeEventStore(t, {
    append: (call, request, nth) =>
      nth === 1 ? call.emit('error', grpcError(status.UNAVAILABLE)) : call.write(successReply(request, 0)),
  })
  const { signal: closing } = new AbortController()
  const connection = createConnections({ connectionString: server.connectionString, closing }).replaceable(1_000)
  t.teardown(() => connection.close())
  connection.replace = () => t.fail('the connection was replaced')
  const events = [jsonEvent({ type: 'T', data: {} })]
  await appendWithRetries(
    { connection, timing: defaultTiming, closing },
    { stream: 's', expected: 'no_stream', events },
  )
  assertOneAppend(t, server, 2)
})

t.test('no append is lost when a stream fails while its buffer is full', async (t) => {
  const server = await startFakeEventStore(t, {
    append(call, request, nth) {
      if (nth > 1) {
        call.write(successReply(request, 0))
      } else {
        call.pause()
        setImmediate(() => call.emit('error', grpcError(status.UNAVAILABLE)))
      }
    },
  })
  const store = connectEventStore(t, server)
  const large = { ...guestTokenSeen, data: { ...guestTokenSeen.data, guest_email: `${'g'.repeat(200)}@example.com` } }
  const fold = { initialState: 0, evolve: () => 0 }
  const appends = Array.from({ length: 300 }, (_, n) =>
    store.handle({
      stream: `s-${n}`,
      fold,
      decide: () => [large],
      metadata: { ...metadata, correlationId: 'c'.repeat(10_000) },
      assumed: { state: 0, revision: 'no_stream', position: undefined },
    }),
  )
  t.equal((await Promise.all(appends)).length, 300)
})
