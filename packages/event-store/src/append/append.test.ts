// How an append handles each response of a fake server.

import { type EventData, jsonEvent } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { NIL, v4 as uuid } from 'uuid'
import { createConnections } from '../connection/connection.ts'
import { appendFirst, connectEventStore } from '../testing/eventStoreHarness.ts'
import {
  assertOneAppend,
  type FakeEventStore,
  type FakeEventStoreBehaviour,
  grpcError,
  startFakeEventStore,
} from '../testing/fakeEventStore.ts'
import { failureReply, successReply, wrongVersionReply } from '../testing/grpcMessages.ts'
import { defaultTiming } from '../timing.ts'
import { appendWithRetries, maxAppendBytes } from './append.ts'

t.test('an append is repeated when the response leaves its outcome open', async (t) => {
  const unclear = {
    'a server shutdown': [0, 'google.protobuf.Empty'],
    'a timeout': [status.DEADLINE_EXCEEDED, 'event_store.client.Timeout'],
    'an unknown failure': [status.UNKNOWN, 'event_store.client.Unknown'],
  } as const
  for (const [reason, [code, type]] of Object.entries(unclear)) {
    await t.test(`an append is repeated after ${reason}`, async (t) => {
      let responses = 0
      const server = await startFakeEventStore(t, {
        append: (call, request) =>
          call.write(++responses < 3 ? failureReply(request, code, type) : successReply(request, 0)),
      })
      await appendFirst(connectEventStore(t, server), 's')
      assertOneAppend(t, server, 3)
    })
  }
})

t.test('an append to a former cluster leader is repeated at the new leader', async (t) => {
  const leader = await startFakeEventStore(t)
  const follower = await startFakeEventStore(t, {
    append: (call) =>
      call.emit(
        'error',
        grpcError(status.NOT_FOUND, {
          exception: 'not-leader',
          'leader-endpoint-host': '127.0.0.1',
          'leader-endpoint-port': String(leader.port),
        }),
      ),
  })
  await appendFirst(connectEventStore(t, follower), 's')
  assertOneAppend(t, leader, 1)
  t.same(
    leader.appends.map(({ ids }) => ids),
    follower.appends.map(({ ids }) => ids),
  )
})

t.test('an append carries a deadline of about an hour, so that clocks may differ', async (t) => {
  const server = await startFakeEventStore(t)
  await appendFirst(connectEventStore(t, server), 's')
  const [append] = server.appends
  t.ok((append?.deadline?.getTime() ?? 0) > Date.now() + 3_500_000)
})

t.test('an append whose outcome stays unknown fails with event_store_unavailable and its cause', async (t) => {
  const server = await startFakeEventStore(t, {
    append: (call, request) => call.write(failureReply(request, 4, 'event_store.client.Timeout')),
  })
  const store = connectEventStore(t, server, { appendRetryTimeoutMs: 300 })
  await t.rejects(appendFirst(store, 's'), {
    code: 'event_store_unavailable',
    message: /may or may not be recorded/,
    cause: { type: 'deadline-exceeded' },
  })
  assertOneAppend(t, server)
})

t.test('a conflict is retried even with throwOnAppendFailure=false', async (t) => {
  let responses = 0
  const server = await startFakeEventStore(t, {
    append: (call, request) => call.write(++responses === 1 ? wrongVersionReply(request, 5) : successReply(request, 6)),
  })
  const store = connectEventStore(t, { connectionString: `${server.connectionString}&throwOnAppendFailure=false` })
  t.equal((await appendFirst(store, 's')).revision, 6n)
  t.equal(responses, 2)
})

t.test('an append that the server rejects fails at once', async (t) => {
  const byStatus = (code: status): FakeEventStoreBehaviour => ({
    append: (call) => call.emit('error', grpcError(code)),
  })
  const byReply = (code: status, type: string): FakeEventStoreBehaviour => ({
    append: (call, request) => call.write(failureReply(request, code, type)),
  })
  const rejections = {
    'the stream is deleted': byReply(status.NOT_FOUND, 'event_store.client.StreamDeleted'),
    'access is denied': byReply(status.PERMISSION_DENIED, 'event_store.client.AccessDenied'),
    'invalid argument': byStatus(status.INVALID_ARGUMENT),
    'permission denied': byStatus(status.PERMISSION_DENIED),
    unimplemented: byStatus(status.UNIMPLEMENTED),
    unauthenticated: byStatus(status.UNAUTHENTICATED),
  }
  for (const [name, behaviour] of Object.entries(rejections)) {
    await t.test(`an append fails at once: ${name}`, async (t) => {
      const server = await startFakeEventStore(t, behaviour)
      await t.rejects(appendFirst(connectEventStore(t, server), 's'), {
        code: 'event_store_unavailable',
        message: /rejected/,
      })
      assertOneAppend(t, server, 1)
    })
  }
})

t.test('an append that is too large for the server fails with body_too_large', async (t) => {
  for (const type of ['MaximumAppendSizeExceeded', 'MaximumAppendEventSizeExceeded']) {
    await t.test(`an append that the server rejects with ${type} fails with body_too_large`, async (t) => {
      const server = await startFakeEventStore(t, {
        append: (call, request) =>
          call.write(failureReply(request, status.INVALID_ARGUMENT, `event_store.client.${type}`)),
      })
      await t.rejects(appendFirst(connectEventStore(t, server), 's'), { code: 'body_too_large' })
      assertOneAppend(t, server, 1)
    })
  }
})

t.test('an append of more than 1 MiB is body_too_large on a server that would accept it', async (t) => {
  const server = await startFakeEventStore(t)
  const send = sender(t, server)
  const event = (bytes: number, metadata = {}) =>
    jsonEvent({ type: 'TT', data: { x: 'x'.repeat(bytes - '{"x":""}'.length - '{}'.length - 4) }, metadata })
  const twoBytes = jsonEvent({ type: 'T', data: { x: 'é'.repeat(maxAppendBytes / 2) } })
  const half = maxAppendBytes / 2
  const tooLarge = [
    [event(maxAppendBytes + 1)],
    [event(half), event(half + 1)],
    [event(maxAppendBytes, { m: 1 })],
    [twoBytes],
  ]
  for (const events of tooLarge) await t.rejects(send('s-1', events), { code: 'body_too_large' })
  t.equal(server.appends.length, 0)
  await send('s-1', [event(half), event(half)])
  t.equal(server.appends.length, 1)
})

t.test('an empty append, an invalid stream name and an invalid event id are never sent', async (t) => {
  const server = await startFakeEventStore(t)
  const event = (id: string = uuid()) => jsonEvent({ id, type: 'T', data: {} })
  const sendEvents = sender(t, server)
  const send = (stream: string, events = [event()]) => sendEvents(stream, events)
  await t.rejects(send('s-1', []), /Nothing to append/)
  for (const name of ['', '$s', '$$s-1', 'pay\u00adment-1', 'é-1', 's-\n'])
    await t.rejects(send(name), /Invalid stream name/, JSON.stringify(name))
  for (const id of [NIL, '', 'x']) await t.rejects(send('s-1', [event(id)]), /Invalid event id/)
  t.equal(server.appends.length, 0)
  await send('s-1 and $ more')
  t.equal(server.appends.length, 1)
})

function sender(t: Test, server: FakeEventStore) {
  const closing = new AbortController().signal
  const connection = createConnections({ connectionString: server.connectionString, closing }).replaceable(1_000)
  t.teardown(() => connection.close())
  const context = { connection, timing: defaultTiming, closing }
  return (stream: string, events: EventData[]) => appendWithRetries(context, { stream, expected: 'no_stream', events })
}
