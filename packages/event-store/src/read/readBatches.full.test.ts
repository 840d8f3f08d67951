// Reading the log in batches: their sizes and positions.

import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { append as appendTo, connectEventStore } from '../testing/eventStoreHarness.ts'
import type { BatchRange, EventBatch } from './readBatches.ts'

const testStore = await startEventStore(t)
const store = connectEventStore(t, testStore)
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

t.test('batches are full until the last one, which ends at the end of the log', async (t) => {
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

t.test('the last batch ends at the end of the log even if only events of other streams are there', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 20)
  await append(`${other}a`, 100)
  const head = await store.head()
  const batches = await batchesIn({ prefixes: [prefix], maxBatch: 10 })
  t.same(namesIn(batches), names(`${prefix}a`, 20))
  t.same(batches.at(-1)?.position, head)
  const nothing = await batchesIn({ prefixes: [freshPrefix()], maxBatch: 10 })
  t.same([namesIn(nothing), nothing.at(-1)?.position], [[], head])
  t.same(await batchesIn({ prefixes: [prefix], from: head }), [], 'nothing after the end')
})

t.test('a read with an end position ends exactly there, even if later events exist', async (t) => {
  const [prefix, other] = [freshPrefix(), freshPrefix()]
  await append(`${prefix}a`, 20)
  await append(`${other}a`, 50)
  const ofOthers = await batchesIn({ prefixes: [other] })
  await append(`${prefix}a`, 20)
  for (const last of [ofOthers[0]?.events[30], ofOthers[0]?.events[49]]) {
    if (last === undefined) throw new Error('The events are missing')
    const until = last.position
    const batches = await batchesIn({ prefixes: [prefix], until, maxBatch: 15 })
    t.same(namesIn(batches), names(`${prefix}a`, 20))
    t.same(batches.at(-1)?.position, until)
    t.same(namesIn(await batchesIn({ prefixes: [prefix], from: until, maxBatch: 15 })), names(`${prefix}a`, 20, 20))
  }
})

t.test('a read after the position of any batch returns the rest, without gaps or duplicates', async (t) => {
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
