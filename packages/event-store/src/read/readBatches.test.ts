// The log read in batches: full ones, and every position worth keeping.

import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import type { EventBatch } from '../subscription/batches.ts'
import { append as appendTo, connectEventStore } from '../testing/eventStoreHarness.ts'
import type { BatchRange } from './readLog.ts'

const node = await startEventStore(t)
const store = connectEventStore(t, node)
const append = (stream: string, count: number) => appendTo(store, stream, count)

let category = 0
const freshPrefix = () => `guestToken-t${category++}x`

async function batchesIn(range: BatchRange): Promise<EventBatch[]> {
  const batches: EventBatch[] = []
  for await (const batch of store.readBatches(range)) batches.push(batch)
  return batches
}

const sizes = (batches: readonly EventBatch[]) => batches.map(({ events }) => events.length)
const namesIn = (batches: readonly EventBatch[]) =>
  batches.flatMap(({ events }) => events).map(({ stream, revision }) => `${stream}@${revision}`)
const names = (stream: string, count: number, first = 0) =>
  Array.from({ length: count }, (_, n) => `${stream}@${n + first}`)

t.test('batches are full as long as there is more, and the last one reaches the end', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 250)
  await append(`${other}a`, 300)
  await append(`${prefix}a`, 100)
  for (const [maxBatch, expected] of [
    [undefined, [100, 100, 100, 50]],
    [160, [160, 160, 30]],
    [400, [350]],
    [175, [175, 175]],
  ] as const) {
    const batches = await batchesIn({ prefixes: [prefix], ...(maxBatch === undefined ? {} : { maxBatch }) })
    t.same(sizes(batches), expected)
    t.same(namesIn(batches), names(`${prefix}a`, 350))
    t.same(batches.at(-1)?.position, await store.head())
  }
})

t.test('the last position is the end also when only events of others lie there, or nothing else', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 20)
  await append(`${other}a`, 100)
  const head = await store.head()
  const batches = await batchesIn({ prefixes: [prefix], maxBatch: 10 })
  t.same(namesIn(batches), names(`${prefix}a`, 20))
  t.same(batches.at(-1)?.position, head)
  const nothing = await batchesIn({ prefixes: [freshPrefix()], maxBatch: 10 })
  t.same([namesIn(nothing), nothing.at(-1)?.position], [[], head])
  t.same(await batchesIn({ prefixes: [prefix], from: head }), [], 'nothing to read')
})

t.test('a part ends with its own last position, whatever lies behind it', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 20)
  await append(`${other}a`, 50)
  const ofOthers = await batchesIn({ prefixes: [other] })
  await append(`${prefix}a`, 20)
  for (const until of [ofOthers[0]?.events[30]?.position, ofOthers[0]?.events[49]?.position]) {
    const batches = await batchesIn({ prefixes: [prefix], until, maxBatch: 15 })
    t.same(namesIn(batches), names(`${prefix}a`, 20))
    t.same(batches.at(-1)?.position, until)
    t.same(namesIn(await batchesIn({ prefixes: [prefix], from: until, maxBatch: 15 })), names(`${prefix}a`, 20, 20))
  }
})

t.test('whoever begins behind the position of any batch gets the rest, and nothing twice', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  for (let round = 0; round < 5; round++) {
    await append(`${prefix}a`, 30)
    await append(`${other}a`, 70)
  }
  const batches = await batchesIn({ prefixes: [prefix], maxBatch: 20 })
  t.same(namesIn(batches), names(`${prefix}a`, 150))
  for (const [index, { position }] of batches.entries()) {
    const rest = await batchesIn({ prefixes: [prefix], from: position, maxBatch: 20 })
    t.same(namesIn(rest), namesIn(batches.slice(index + 1)))
  }
})

t.test('a node that is killed half way costs no event, and gives none twice', async (t) => {
  const prefix = freshPrefix()
  for (let block = 0; block < 4; block++) await append(`${prefix}a`, 500)
  const batches: EventBatch[] = []
  for await (const batch of store.readBatches({ prefixes: [prefix], maxBatch: 300 })) {
    batches.push(batch)
    if (batches.length !== 3) continue
    await node.kill()
    await node.start()
  }
  t.same(namesIn(batches), names(`${prefix}a`, 2_000))
  t.same(batches.at(-1)?.position, await store.head())
})
