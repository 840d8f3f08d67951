// How many events lie after a position: counted at the real node, and over the wire where it would not do as wanted.

import { jsonEvent } from '@eventstore/db-client'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { append as appendTo, connectEventStore } from '../testing/eventStoreHarness.ts'
import { startFakeEventStore } from '../testing/fakeEventStore.ts'
import { eventMessage } from '../testing/grpcMessages.ts'

const node = await startEventStore(t)
const store = connectEventStore(t, node)
const append = (stream: string, count: number) => appendTo(store, stream, count)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`

const positionsIn = async (prefix: string) => {
  const positions = []
  for await (const { position } of store.readLog({ prefixes: [prefix] })) positions.push(position)
  return positions
}

t.test('nothing lies after the end of the log, and nothing in a fresh one', async (t) => {
  const none = { events: 0, isMore: false, since: undefined, end: await store.head() }
  t.same(await store.lag(undefined, ['guestToken-']), none)
  await append(`${freshPrefix()}a`, 3)
  const end = await store.head()
  t.same(await store.lag(end, ['guestToken-']), { events: 0, isMore: false, since: undefined, end })
})

t.test('what lies after a position is counted, of the wanted streams alone', async (t) => {
  const [wanted, other, alsoWanted] = [freshPrefix(), freshPrefix(), freshPrefix()]
  const before = await store.head()
  const begun = Date.now()
  await append(`${wanted}a`, 30)
  await append(`${other}a`, 200)
  await append(`${alsoWanted}a`, 5)
  await append(`${other}b`, 200)
  const prefixes = [wanted, alsoWanted]
  const end = await store.head()
  const [first] = await store.readStream(`${wanted}a`, { limit: 1 })
  t.ok(first && first.created.getTime() >= begun - 1)
  const all = { events: 35, isMore: false, since: first?.created, end }
  t.same(await store.lag(undefined, prefixes), all)
  t.same(await store.lag(before, prefixes), all)
  const positions = await positionsIn(wanted)
  t.equal((await store.lag(positions[9], prefixes)).events, 25)
  t.equal((await store.lag(positions[29], prefixes)).events, 5)
  t.same(await store.lag((await positionsIn(alsoWanted))[4], prefixes), {
    events: 0,
    isMore: false,
    since: undefined,
    end,
  })
})

t.test('it counts no further than it is asked to, and says that there is more', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 40)
  const counted = async (most: number) => {
    const { events, isMore } = await store.lag(undefined, [prefix], { maxEvents: most })
    return [events, isMore]
  }
  t.same(await counted(10), [10, true])
  t.same(await counted(39), [39, true])
  t.same(await counted(40), [40, false])
  const [first] = await positionsIn(prefix)
  for (const [most, isMore] of [
    [39, false],
    [38, true],
  ] as const) {
    const counted = await store.lag(first, [prefix], { maxEvents: most })
    t.match(counted, { events: most, isMore }, 'the event at the position is not one of them')
  }
})

t.test('events that cannot be read count as well', async (t) => {
  const prefix = freshPrefix()
  const unreadable = jsonEvent({ type: 'PaymentExploded', data: {}, metadata: {} })
  await store.client.appendToStream(`${prefix}a`, [unreadable])
  t.equal((await store.lag(undefined, [prefix])).events, 1)
})

t.test('many looks at a log of many events keep their connection and leave no call behind', async (t) => {
  const log = Array.from({ length: 5_000 }, (_, n) => ({ stream: 'guestToken-1', number: n + 1 }))
  const server = await startFakeEventStore(t, { log })
  const counting = connectEventStore(t, server)
  const { client } = counting
  for (let look = 0; look < 20; look++) {
    const { events, isMore } = await counting.lag(undefined, ['guestToken-'], { maxEvents: 10 })
    t.same([events, isMore], [10, true])
  }
  t.equal(counting.client, client)
  await waitFor(() => server.openCalls() === 0, { what: 'the end of every call' })
})

t.test('a store that finds nothing for long, or stops half way, is not waited for and not given up', async (t) => {
  const server = await startFakeEventStore(t, {
    log: [{ stream: 'guestToken-1', number: 9 }],
    read(call, _nth, properly) {
      if (call.request.getOptions()?.hasNoFilter()) return properly()
      call.write(eventMessage({ stream: 'guestToken-1', number: 1 }))
    },
  })
  const counting = connectEventStore(t, server, { readTimeoutMs: 200 })
  const { client } = counting
  const { events, isMore } = await counting.lag(undefined, ['guestToken-'])
  t.same([events, isMore], [1, true])
  t.equal(counting.client, client, 'the connection is healthy')
  await waitFor(() => server.openCalls() === 0, { what: 'the end of the call' })
})

t.test('a node that is killed meanwhile is waited for, a store that is closed is not', async (t) => {
  const prefix = freshPrefix()
  await append(`${prefix}a`, 3)
  await node.kill()
  const counting = store.lag(undefined, [prefix])
  await node.start()
  t.equal((await counting).events, 3)
  const other = connectEventStore(t, node)
  await other.close()
  await t.rejects(other.lag(undefined, [prefix]), { code: 'event_store_unavailable' })
})
