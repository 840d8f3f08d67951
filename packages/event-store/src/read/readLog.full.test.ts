// Reading a range of the log: from the embedded event store, and from a fake server over connections that break.

import { setTimeout as sleep } from 'node:timers/promises'
import { jsonEvent } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { startEventStore } from '@paylog/testing/eventStore'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import type { Recorded } from '../codec/codec.ts'
import { append as appendTo, connectEventStore, withoutKeepalive } from '../testing/eventStoreHarness.ts'
import { grpcError, type ReadCall, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { eventMessage } from '../testing/grpcMessages.ts'
import type { LogRange } from './readBatches.ts'

const testStore = await startEventStore(t)
const store = connectEventStore(t, testStore)
const append = (stream: string, count: number) => appendTo(store, stream, count)

const stream = 'guestToken-1'
const prefix = 'guestToken-'
const prefixes = [prefix]
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ stream, number: n + 1 }))
const names = (name: string, count: number, first = 0) =>
  Array.from({ length: count }, (_, n) => `${name}@${n + first}`)
const nameOf = (event: Recorded) => `${event.stream}@${event.revision}`
const log = numbered(20)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`

async function namesIn(range: LogRange, from = store): Promise<string[]> {
  const found: string[] = []
  for await (const event of from.readLog(range)) found.push(nameOf(event))
  return found
}

t.test('reading an empty log ends at once', async (t) => {
  t.same(await namesIn({ prefixes }), [])
})

t.test('readLog returns the events of the wanted streams only, in log order', async (t) => {
  const [wanted, other, alsoWanted] = [freshPrefix(), freshPrefix(), freshPrefix()]
  await append(`${wanted}a`, 150)
  await append(`${other}a`, 150)
  await append(`${alsoWanted}a`, 150)
  await append(`${wanted}b`, 2)
  await append(`${wanted}a`, 1)
  t.same(await namesIn({ prefixes: [wanted, alsoWanted] }), [
    ...names(`${wanted}a`, 150),
    ...names(`${alsoWanted}a`, 150),
    ...names(`${wanted}b`, 2),
    `${wanted}a@150`,
  ])
  t.same(await namesIn({ prefixes: [freshPrefix()] }), [], 'no event of other streams')
})

t.test('readLog ends where the log ended when the read started', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  const before = await namesIn({ prefixes: [prefix] })
  const seen: string[] = []
  for await (const event of store.readLog({ prefixes: [prefix] })) {
    seen.push(nameOf(event))
    await append(`${prefix}a`, 1)
  }
  t.same(seen, before)
})

t.test('readLog fails at an unreadable event, after the events before it', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 5)
  const unreadable = jsonEvent({ type: 'PaymentExploded', data: {}, metadata: {} })
  await store.client.appendToStream(`${prefix}b`, unreadable)
  await append(`${prefix}a`, 5)
  const seen: string[] = []
  const reading = (async () => {
    for await (const event of store.readLog({ prefixes: [prefix] })) seen.push(nameOf(event))
  })()
  await t.rejects(reading, { name: 'UnreadableEventError' })
  t.same(seen, names(`${prefix}a`, 5))
})

t.test('a page that falls silent is read on, without gaps or duplicates', async (t) => {
  let pages = 0
  const server = await startFakeEventStore(t, {
    log,
    read(call, _nth, respondNormally) {
      if (call.request.getOptions()?.getReadDirection() === 1 || ++pages > 1) return respondNormally()
      for (const event of log.slice(0, 5)) call.write(eventMessage(event))
    },
  })
  const seen = await namesIn({ prefixes }, connectEventStore(t, server, { readTimeoutMs: 500 }))
  t.same(seen, names(stream, 20, 1))
  await waitFor(() => server.openCalls() === 0, { what: 'every call to end' })
})

t.test('a server that finds no matching event for long is read without a filter', async (t) => {
  const others = Array.from({ length: 3_000 }, (_, n) => ({ stream: 'other-1', number: n + 1 }))
  const own = { stream, number: 3_001 }
  const filtered: number[] = []
  const server = await startFakeEventStore(t, {
    log: [...others, own],
    read(call, nth, respondNormally) {
      if (!call.request.getOptions()?.hasFilter()) return respondNormally()
      // It scans, and sends nothing.
      filtered.push(nth)
    },
  })
  const store = connectEventStore(t, server, { readTimeoutMs: 200 })
  t.same(await namesIn({ prefixes }, store), [`${stream}@3001`])
  t.equal(filtered.length, 1, 'the rest is read without a filter')
  await waitFor(() => server.openCalls() === 0, { what: 'every call to end' })
})

t.test('readLog fails when the store stays unavailable, hangs or rejects the read', async (t) => {
  const ends: Record<string, (call: ReadCall) => void> = {
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    silent: () => {},
    rejected: (call) => call.emit('error', grpcError(status.PERMISSION_DENIED, { exception: 'access-denied' })),
  }
  for (const [name, end] of Object.entries(ends)) {
    await t.test(`readLog fails: ${name}`, async (t) => {
      const server = await startFakeEventStore(t, {
        log,
        read(call, _nth, respondNormally) {
          if (call.request.getOptions()?.getReadDirection() === 1) respondNormally()
          else end(call)
        },
      })
      const store = connectEventStore(t, server, { readTimeoutMs: 300, readRetryTimeoutMs: 1_000 })
      await t.rejects(namesIn({ prefixes }, store), { code: 'event_store_unavailable' })
      t.equal(server.readAfter.length === 1, name === 'rejected', 'only a rejection is not retried')
      await waitFor(() => server.openCalls() === 0, { what: 'every call to end' })
    })
  }
})

t.test('readLog replaces a dead connection', async (t) => {
  const long = numbered(400)
  const server = await startFakeEventStore(t, { log: long })
  const proxy = await startTcpProxy(t, server.port)
  const store = connectEventStore(t, withoutKeepalive(proxy.port), { readTimeoutMs: 300 })
  const seen: string[] = []
  for await (const event of store.readLog({ prefixes })) {
    if (seen.push(nameOf(event)) === 150) proxy.freezeConnections()
  }
  t.same(seen, names(stream, 400, 1))
})

t.test('a slow reader of the log reads no more than two pages ahead', async (t) => {
  const total = 3_000
  const server = await startFakeEventStore(t, { log: numbered(total) })
  let seen = 0
  const store = connectEventStore(t, server)
  for await (const _event of store.readLog({ prefixes })) {
    if (seen++ > 0) continue
    await waitFor(() => server.readAfter.length === 2 && server.openCalls() === 0, { what: 'the page ahead' })
    await sleep(100)
    t.equal(server.readAfter.length, 2)
  }
  t.equal(seen, total)
})

t.test('breaking out of readLog ends the calls at the server', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(1_000) })
  const store = connectEventStore(t, server)
  for await (const event of store.readLog({ prefixes })) if (event.revision === 10n) break
  await waitFor(() => server.openCalls() === 0, { what: 'the abandoned calls to end' })
})
