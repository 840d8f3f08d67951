// Lag: counted on the embedded event store, and on a fake server where a certain behaviour is needed.

import { jsonEvent } from '@eventstore/db-client'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { append as appendTo, connectEventStore } from '../testing/eventStoreHarness.ts'
import { startFakeEventStore } from '../testing/fakeEventStore.ts'

const testStore = await startEventStore(t)
const store = connectEventStore(t, testStore)
const append = (stream: string, count: number) => appendTo(store, stream, count)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`

const positionsIn = async (prefix: string) => {
  const positions = []
  for await (const { position } of store.readLog({ prefixes: [prefix] })) positions.push(position)
  return positions
}

t.test('the lag is zero at the end of the log and in an empty log', async (t) => {
  const none = { events: 0, isMore: false, first: undefined }
  t.same(await store.lag(undefined, ['guestToken-']), none)
  await append(`${freshPrefix()}a`, 3)
  const end = await store.head()
  t.same(await store.lag(end, ['guestToken-']), none)
})

t.test('the lag counts the events of the wanted streams after a position', async (t) => {
  const [wanted, other, alsoWanted] = [freshPrefix(), freshPrefix(), freshPrefix()]
  const before = await store.head()
  const startedAt = Date.now()
  await append(`${wanted}a`, 30)
  await append(`${other}a`, 200)
  await append(`${alsoWanted}a`, 5)
  await append(`${other}b`, 200)
  const prefixes = [wanted, alsoWanted]
  const [first] = await store.readStream(`${wanted}a`, { limit: 1 })
  t.ok(first && first.created.getTime() >= startedAt - 1)
  const all = { events: 35, isMore: false, first: { position: first?.position, created: first?.created } }
  t.match(await store.lag(undefined, prefixes), all)
  t.match(await store.lag(before, prefixes), all)
  const positions = await positionsIn(wanted)
  t.equal((await store.lag(positions[9], prefixes)).events, 25)
  t.equal((await store.lag(positions[29], prefixes)).events, 5)
  t.same(await store.lag((await positionsIn(alsoWanted))[4], prefixes), {
    events: 0,
    isMore: false,
    first: undefined,
  })
})

t.test('the lag stops counting at maxEvents and reports that there are more', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 40)
  const counted = async (maxEvents: number) => {
    const { events, isMore } = await store.lag(undefined, [prefix], { maxEvents })
    return [events, isMore]
  }
  t.same(await counted(10), [10, true])
  t.same(await counted(39), [39, true])
  t.same(await counted(40), [40, false])
  const [first] = await positionsIn(prefix)
  for (const [maxEvents, isMore] of [
    [39, false],
    [38, true],
  ] as const) {
    const counted = await store.lag(first, [prefix], { maxEvents })
    t.match(counted, { events: maxEvents, isMore }, 'the event at the position is not counted')
  }
})

t.test('the lag counts unreadable events', async (t) => {
  const prefix = freshPrefix()
  const unreadable = jsonEvent({ type: 'PaymentExploded', data: {}, metadata: {} })
  await store.client.appendToStream(`${prefix}a`, [unreadable])
  t.equal((await store.lag(undefined, [prefix])).events, 1)
})

t.test('repeated lag counts in a long log keep their connection and leave no open calls', async (t) => {
  const log = Array.from({ length: 5_000 }, (_, n) => ({ stream: 'guestToken-1', number: n + 1 }))
  const server = await startFakeEventStore(t, { log })
  const counting = connectEventStore(t, server)
  const { client } = counting
  for (let round = 0; round < 20; round++) {
    const { events, isMore } = await counting.lag(undefined, ['guestToken-'], { maxEvents: 10 })
    t.same([events, isMore], [10, true])
  }
  t.equal(counting.client, client)
  await waitFor(() => server.openCalls() === 0, { what: 'every call to end' })
})

t.test('a lag count that takes too long returns what it has counted and keeps the connection', async (t) => {
  const log = Array.from({ length: 600 }, (_, n) => ({ stream: 'guestToken-1', number: n + 1 }))
  const server = await startFakeEventStore(t, {
    log,
    read(_call, nth, respondNormally) {
      // The end of the log and the first page are read; the next page hangs.
      if (nth <= 2) respondNormally()
    },
  })
  const counting = connectEventStore(t, server, { readTimeoutMs: 2_000 })
  const { client } = counting
  const { events, isMore } = await counting.lag(undefined, ['guestToken-'], { timeoutMs: 300 })
  t.same([events, isMore], [500, true])
  t.equal(counting.client, client, 'the connection is healthy')
  await counting.close()
  await waitFor(() => server.openCalls() === 0, { what: 'the call to end' })
})

t.test('a lag count waits longer for its first events, without which nothing is known', async (t) => {
  const server = await startFakeEventStore(t, {
    log: Array.from({ length: 5 }, (_, n) => ({ stream: 'guestToken-1', number: n + 1 })),
    read: (_call, nth, respondNormally) => void setTimeout(respondNormally, nth === 1 ? 0 : 600),
  })
  const counting = connectEventStore(t, server, { readTimeoutMs: 2_000 })
  t.match(await counting.lag(undefined, ['guestToken-'], { timeoutMs: 200 }), { events: 5, first: Object })
})

t.test('a lag count reads no more events than it may count', async (t) => {
  const sizes: (number | undefined)[] = []
  const server = await startFakeEventStore(t, {
    log: Array.from({ length: 600 }, (_, n) => ({ stream: 'guestToken-1', number: n + 1 })),
    read(call, _nth, respondNormally) {
      sizes.push(Number(call.request.getOptions()?.getCount()))
      respondNormally()
    },
  })
  await connectEventStore(t, server).lag(undefined, ['guestToken-'], { maxEvents: 1 })
  t.same(sizes.slice(0, 2), [1, 2], 'the end of the log, and one more than is counted')
})

t.test('the lag of a position after the end of the log is unknown', async (t) => {
  const beyond = { commit: 2n ** 62n, prepare: 2n ** 62n }
  t.same(await store.lag(beyond, ['guestToken-']), { events: 0, isMore: true, first: undefined })
})
