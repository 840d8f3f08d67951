// How closing a store ends its pending appends, reads and followers.

import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { appendFirst, connectEventStore } from './testing/eventStoreHarness.ts'
import { startFakeEventStore } from './testing/fakeEventStore.ts'
import { followerHarness } from './testing/followerHarness.ts'
import { eventMessage, successReply } from './testing/grpcMessages.ts'

const stream = 'guestToken-1'

t.test('closing a store fails its appends at once and leaves other stores alone', async (t) => {
  const server = await startFakeEventStore(t, {
    append: (call, request, nth) => nth > 1 && call.write(successReply(request, 0)),
  })
  const closed = connectEventStore(t, server)
  const failing = t.rejects(appendFirst(closed, 'a'), { code: 'event_store_unavailable' })
  await waitFor(() => server.appends.length === 1, { what: 'the append of the store to be closed' })
  const appending = appendFirst(connectEventStore(t, server), 'b')
  await closed.close()
  await failing
  await appending
  // It stays closed.
  for (let call = 0; call < 3; call++) await t.rejects(appendFirst(closed, 'c'), { code: 'event_store_unavailable' })
  t.notOk(server.appends.some((append) => append.stream === 'c'))
})

t.test('closing a store does not wait for a hanging query for supported methods', async (t) => {
  const queried = Promise.withResolvers<void>()
  const server = await startFakeEventStore(t, { supportedMethods: () => queried.resolve() })
  const store = connectEventStore(t, server, { appendTimeoutMs: 60_000 })
  const failing = t.rejects(appendFirst(store, 's'), { code: 'event_store_unavailable' })
  await queried.promise
  const startedAt = performance.now()
  await store.close()
  await failing
  t.ok(performance.now() - startedAt < 5_000)
  t.notOk(process.getActiveResourcesInfo().includes('Timeout'), 'no timer is left')
})

t.test('closing a store fails its reads at once and ends them at the server', async (t) => {
  const server = await startFakeEventStore(t, { read: (call) => call.write(eventMessage({ stream, number: 0 })) })
  const store = connectEventStore(t, server, { readTimeoutMs: 60_000 })
  const failing = t.rejects(store.readStream(stream), { code: 'event_store_unavailable' })
  await waitFor(() => server.openCalls() === 1, { what: 'a read that does not end' })
  await store.close()
  await failing
  // It stays closed.
  for (let call = 0; call < 3; call++) await t.rejects(store.readStream(stream), { code: 'event_store_unavailable' })
  await waitFor(() => server.openCalls() === 0, { what: 'the read to end at the server' })
  t.notOk(process.getActiveResourcesInfo().includes('Timeout'), 'no timer is left')
})

t.test('closing a store ends its followers', async (t) => {
  const server = await startFakeEventStore(t, { log: [{ stream, number: 1 }] })
  const store = connectEventStore(t, server)
  const sub = followerHarness(store, 'guestToken-')
  const { running } = sub.run()
  await waitFor(() => sub.seen.length === 1, { what: 'all events' })
  await store.close()
  await running
  await waitFor(() => server.openCalls() === 0, { what: 'the calls to end' })
})
