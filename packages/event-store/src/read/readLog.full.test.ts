// Reading a range of the log: from the embedded event store, and from a fake server over connections that break.

import { jsonEvent } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { startEventStore } from '@paylog/testing/eventStore'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import type { Recorded } from '../codec/codec.ts'
import { append as appendTo, connectEventStore, withoutKeepalive } from '../testing/eventStoreHarness.ts'
import { createFlood, grpcError, type ReadCall, startFakeEventStore } from '../testing/fakeEventStore.ts'
import { checkpointMessage, confirmationMessage, eventMessage } from '../testing/grpcMessages.ts'
import type { LogRange } from './readLog.ts'

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
const at = (commit: bigint, prepare = commit) => ({ commit, prepare })

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`

async function eventsIn(range: LogRange, from = store): Promise<Recorded[]> {
  const events: Recorded[] = []
  for await (const event of from.readLog(range)) events.push(event)
  return events
}

const namesIn = async (range: LogRange, from = store) => (await eventsIn(range, from)).map(nameOf)

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

t.test('readLog ends where the log ended when the read began', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  for (const until of [undefined, at(2n ** 62n)]) {
    const before = await namesIn({ prefixes: [prefix] })
    const seen: string[] = []
    for await (const event of store.readLog({ prefixes: [prefix], until })) {
      seen.push(nameOf(event))
      await append(`${prefix}a`, 1)
    }
    t.same(seen, before)
  }
})

t.test('readLog ends even if many events of other streams are at the end of the log', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  const other = freshPrefix()
  for (let block = 0; block < 3; block++) await append(`${other}${block}`, 500)
  t.same(await namesIn({ prefixes: [prefix] }), names(`${prefix}a`, 3))
})

t.test('readLog starts after `from` and ends with `until`', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 20)
  const all = await eventsIn({ prefixes: [prefix] })
  const [from, until] = [all[4]?.position, all[9]?.position]
  const range = { prefixes: [prefix] }
  t.same(await namesIn({ ...range, from, until }), names(`${prefix}a`, 5, 5))
  t.same(await namesIn({ ...range, until }), names(`${prefix}a`, 10))
  t.same(await namesIn({ ...range, from }), names(`${prefix}a`, 15, 5))
  t.same(await namesIn({ ...range, from, until: from }), [])
  t.same(await namesIn({ ...range, from: until, until: from }), [], 'empty when the end is before the start')
  t.same(await namesIn({ ...range, from: await store.head() }), [])
})

t.test('readLog fails at an unreadable event, but not at one after its end', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 5)
  await append(`${freshPrefix()}a`, 1)
  const before = await store.head()
  const unreadable = jsonEvent({ type: 'PaymentExploded', data: {}, metadata: {} })
  await store.client.appendToStream(`${prefix}b`, unreadable)
  await append(`${prefix}a`, 5)
  const seen: string[] = []
  const reading = (async () => {
    for await (const event of store.readLog({ prefixes: [prefix] })) seen.push(nameOf(event))
  })()
  await t.rejects(reading, { name: 'UnreadableEventError' })
  t.same(seen, names(`${prefix}a`, 5))
  t.same(await namesIn({ prefixes: [prefix], until: before }), names(`${prefix}a`, 5))
})

t.test('readLog survives a killed event store without gaps or duplicates', async (t) => {
  const prefix = freshPrefix()
  for (let block = 0; block < 2; block++) await append(`${prefix}a`, 500)
  const seen: string[] = []
  for await (const event of store.readLog({ prefixes: [prefix] })) {
    seen.push(nameOf(event))
    if (seen.length !== 150) continue
    await testStore.kill()
    await testStore.start()
  }
  t.same(seen, names(`${prefix}a`, 1_000))
})

t.test('readLog resumes after the last event or checkpoint when the subscription is interrupted', async (t) => {
  const log = numbered(20)
  const cuts: Record<string, (call: ReadCall) => void> = {
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    cancelled: (call) => call.emit('error', grpcError(status.CANCELLED)),
    unknown: (call) => call.emit('error', grpcError(status.UNKNOWN)),
    'an end without an error': (call) => call.end(),
    silence: () => {},
  }
  for (const [name, cut] of Object.entries(cuts)) {
    await t.test(`readLog resumes after ${name}`, async (t) => {
      const server = await startFakeEventStore(t, {
        log,
        subscription(call, nth, respondNormally) {
          t.same(call.request.getOptions()?.getFilter()?.getStreamIdentifier()?.getPrefixList(), prefixes)
          if (nth > 2) return respondNormally()
          call.write(confirmationMessage())
          const first = nth === 1 ? 0 : 10
          for (const event of log.slice(first, first + 5)) call.write(eventMessage(event))
          call.write(checkpointMessage(at(BigInt(first + 10))))
          cut(call)
        },
      })
      const seen = await namesIn({ prefixes }, connectEventStore(t, server, { readTimeoutMs: 1_000 }))
      t.same(seen, [...names(stream, 5, 1), ...names(stream, 5, 11)], 'resumed after the checkpoint')
      t.same(server.subscribedAfter, ['start', '10/10'])
      await waitFor(() => server.openCalls() === 0, { what: 'every call to end' })
    })
  }
})

t.test('readLog ignores an impossible checkpoint', async (t) => {
  const log = numbered(6)
  const server = await startFakeEventStore(t, {
    log,
    subscription(call) {
      call.write(confirmationMessage())
      call.write(checkpointMessage(at(2n ** 64n - 1n)))
      for (const event of log) call.write(eventMessage(event))
    },
  })
  t.same(await namesIn({ prefixes }, connectEventStore(t, server)), names(stream, 6, 1))
})

t.test('readLog fails when the store stays unavailable, hangs or rejects the read', async (t) => {
  const log = numbered(20)
  const ends: Record<string, (call: ReadCall) => void> = {
    unavailable: (call) => call.emit('error', grpcError(status.UNAVAILABLE)),
    silent: () => {},
    rejected: (call) => call.emit('error', grpcError(status.PERMISSION_DENIED, { exception: 'access-denied' })),
  }
  for (const [name, end] of Object.entries(ends)) {
    await t.test(`readLog fails: ${name}`, async (t) => {
      const server = await startFakeEventStore(t, {
        log,
        subscription(call, nth) {
          call.write(confirmationMessage())
          if (nth === 1) for (const event of log.slice(0, 10)) call.write(eventMessage(event))
          end(call)
        },
      })
      const store = connectEventStore(t, server, { readTimeoutMs: 500, readRetryTimeoutMs: 1_000 })
      const seen: string[] = []
      const reading = (async () => {
        for await (const event of store.readLog({ prefixes })) seen.push(nameOf(event))
      })()
      await t.rejects(reading, { code: 'event_store_unavailable' })
      t.same(seen, names(stream, 10, 1))
      t.equal(server.subscribedAfter.length === 1, name === 'rejected', 'only a rejection is not retried')
      await waitFor(() => server.openCalls() === 0, { what: 'every call to end' })
    })
  }
})

t.test('readLog replaces a dead connection', async (t) => {
  const log = numbered(400)
  const server = await startFakeEventStore(t, {
    log,
    subscription(call, nth, respondNormally) {
      if (nth > 1) return respondNormally()
      call.write(confirmationMessage())
      for (const event of log.slice(0, 200)) call.write(eventMessage(event))
    },
  })
  const proxy = await startTcpProxy(t, server.port)
  const store = connectEventStore(t, withoutKeepalive(proxy.port), { readTimeoutMs: 300 })
  const seen: string[] = []
  for await (const event of store.readLog({ prefixes })) {
    if (seen.push(nameOf(event)) === 200) proxy.freezeConnections()
  }
  t.same(seen, names(stream, 400, 1))
})

t.test('readLog has no overall time limit as long as events arrive', async (t) => {
  const log = numbered(20)
  const server = await startFakeEventStore(t, {
    log,
    subscription(call) {
      call.write(confirmationMessage())
      let sent = 0
      const drip = setInterval(() => {
        for (const event of log.slice(sent, ++sent)) call.write(eventMessage(event))
        if (sent === log.length) clearInterval(drip)
      }, 100)
    },
  })
  t.same(await namesIn({ prefixes }, connectEventStore(t, server, { readTimeoutMs: 800 })), names(stream, 20, 1))
  t.same(server.subscribedAfter, ['start'])
})

t.test('a slow reader of the log applies backpressure to the server', async (t) => {
  const total = 3_000
  const { subscription, sent, isBackpressured } = createFlood(stream, total)
  const server = await startFakeEventStore(t, { log: [{ stream, number: total }], subscription })
  let seen = 0
  const store = connectEventStore(t, server, { readTimeoutMs: 400 })
  for await (const _event of store.readLog({ prefixes })) {
    if (seen++ > 0) continue
    await waitFor(() => isBackpressured(80), { what: 'backpressure at the server', timeoutMs: 20_000 })
    t.ok(sent() < total / 4, `${sent()} of ${total} events were sent before any was read`)
  }
  t.equal(seen, total)
  t.same(server.subscribedAfter, ['start'], 'backpressure is not mistaken for silence')
})

t.test('breaking out of readLog, or closing the store, ends the call at the server', async (t) => {
  const server = await startFakeEventStore(t, { log: numbered(1_000) })
  const store = connectEventStore(t, server)
  const sockets = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length
  for await (const event of store.readLog({ prefixes })) if (event.revision === 10n) break
  await waitFor(() => server.openCalls() === 0, { what: 'the abandoned call to end' })
  const before = sockets()
  for await (const event of store.readLog({ prefixes })) if (event.revision === 10n) break
  await waitFor(() => sockets() <= before, { what: 'its connection to close' })

  const closed = (async (t: Test) => {
    let seen = 0
    for await (const _event of store.readLog({ prefixes })) if (++seen === 1) await store.close()
    t.fail('the read ended without an error')
  })(t)
  await t.rejects(closed, { code: 'event_store_unavailable' })
  await waitFor(() => server.openCalls() === 0, { what: 'the call of the closed store to end' })
})
