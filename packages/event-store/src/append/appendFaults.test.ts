// Appends on connections that break, go silent or answer nonsense, over the wire.

import { jsonEvent } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { connect, defaultTiming } from '../connection/connection.ts'
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
import { appendWithRetries } from './append.ts'

const quick = { appendTimeoutMs: 1_000, appendPatienceMs: 5_000 }

t.test('an append that is never answered is repeated over a new connection, and leaves nothing open', async (t) => {
  const server = await startFakeEventStore(t, {
    append: (call, request, nth) => nth >= 3 && call.write(successReply(request, 0)),
  })
  await appendFirst(connectEventStore(t, server, quick), 's')
  assertOneAppend(t, server)
  await waitFor(() => server.openCalls() === 1, { what: 'the end of the streams that were given up' })
})

t.test('appends that are not answered on one connection replace it once', async (t) => {
  let streams = 0
  const server = await startFakeEventStore(t, {
    append(call, request, nth) {
      streams = nth
      if (nth > 1) call.write(successReply(request, 0))
    },
  })
  const store = connectEventStore(t, server, { appendTimeoutMs: 1_000 })
  const begun = performance.now()
  const first = appendFirst(store, 's-1')
  await waitFor(() => performance.now() - begun > 500, { what: 'half of the time that it is given' })
  await Promise.all([first, appendFirst(store, 's-2')])
  await appendFirst(store, 's-3')
  t.equal(streams, 2)
})

t.test('an append that is only slow is answered on the connection that another one gave up', async (t) => {
  const held: (() => void)[] = []
  const server = await startFakeEventStore(t, {
    append(call, request, nth) {
      const answer = () => call.write(successReply(request, 0))
      if (nth > 1) {
        for (const release of held) release()
        answer()
      } else if (server.appends.at(-1)?.stream === 'slow') {
        held.push(answer)
      }
    },
  })
  const store = connectEventStore(t, server, { appendTimeoutMs: 1_000 })
  const begun = performance.now()
  const silent = appendFirst(store, 'silent')
  await waitFor(() => server.appends.length === 1, { what: 'an append that gets no answer' })
  await waitFor(() => performance.now() - begun > 500, { what: 'half of the time that it is given' })
  await Promise.all([silent, appendFirst(store, 'slow')])
  t.same(
    server.appends.map(({ stream }) => stream),
    ['silent', 'slow', 'silent'],
  )
})

t.test('a dead connection is replaced long before its keepalive fails', async (t) => {
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

t.test('a server that did not tell what it can do is asked again', async (t) => {
  for (const misbehave of [() => {}, (answer: (error: object) => void) => answer(grpcError(status.INTERNAL))]) {
    const server = await startFakeEventStore(t, {
      supportedMethods: (answer, nth) => (nth === 1 ? misbehave(answer) : answer(null, supportedMethods())),
    })
    await appendFirst(connectEventStore(t, server, quick), 's')
    assertOneAppend(t, server, 1)
  }
})

t.test('a stream of appends that ends, well or not, makes them be repeated at once', async (t) => {
  const endings: Record<string, (call: BatchCall) => void> = {
    'with OK': (call) => call.end(),
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    cancelled: (call) => call.emit('error', grpcError(status.CANCELLED)),
    aborted: (call) => call.emit('error', grpcError(status.ABORTED)),
    unknown: (call) => call.emit('error', grpcError(status.UNKNOWN)),
    'deadline exceeded': (call) => call.emit('error', grpcError(status.DEADLINE_EXCEEDED)),
  }
  for (const [name, end] of Object.entries(endings)) {
    await t.test(name, async (t) => {
      const server = await startFakeEventStore(t, {
        append: (call, request, nth) => (nth === 1 ? end(call) : call.write(successReply(request, 0))),
      })
      await appendFirst(connectEventStore(t, server, { appendTimeoutMs: 20_000 }), 's')
      assertOneAppend(t, server, 2)
    })
  }
})

t.test('a server that is not there yet is waited for', async (t) => {
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

t.test('an answer that nobody waits for, or that nobody can read, hurts nobody', async (t) => {
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

t.test('the broken connection of one store makes another store repeat, and no more', async (t) => {
  const held: (() => void)[] = []
  const healthy = await startFakeEventStore(t, {
    append(call, request) {
      held.push(() => call.write(successReply(request, 0)))
      // The first answer comes late: nobody waits for it any more when it does.
      if (held.length === 2) for (const answer of held) answer()
    },
  })
  const breaking = await startFakeEventStore(t, {
    append: (call, request, nth) =>
      nth === 1 ? call.emit('error', grpcError(status.UNAVAILABLE)) : call.write(successReply(request, 0)),
  })
  const appending = appendFirst(connectEventStore(t, healthy), 's')
  await waitFor(() => held.length === 1, { what: 'an append that waits for its answer' })
  await appendFirst(connectEventStore(t, breaking), 's')
  await appending
  assertOneAppend(t, healthy, 2)
})

t.test('a stream that breaks is opened again on the connection that it was on', async (t) => {
  const server = await startFakeEventStore(t, {
    append: (call, request, nth) =>
      nth === 1 ? call.emit('error', grpcError(status.UNAVAILABLE)) : call.write(successReply(request, 0)),
  })
  const { client, close } = connect(server.connectionString)
  t.teardown(close)
  const replace = () => t.fail('the connection was given up')
  const connection = { current: () => client, replace, close }
  const { signal: closing } = new AbortController()
  const events = [jsonEvent({ type: 'T', data: {} })]
  await appendWithRetries(
    { connection, timing: defaultTiming, closing },
    { stream: 's', expected: 'no_stream', events },
  )
  assertOneAppend(t, server, 2)
})

t.test('a stream that fails while it is full takes nothing with it', async (t) => {
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
      known: { state: 0, revision: 'no_stream', position: undefined },
    }),
  )
  t.equal((await Promise.all(appends)).length, 300)
})
