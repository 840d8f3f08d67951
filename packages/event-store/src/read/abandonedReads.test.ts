// Reads that are left before their end, thousands of them: nothing of them stays in memory.

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { append, connectEventStore } from '../testing/eventStoreHarness.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

async function usedHeapBytes(): Promise<number> {
  // A call ends some turns of the event loop after it was left, and frees more when it is collected itself.
  for (let round = 0; round < 2; round++) {
    await sleep(200)
    collectGarbage()
  }
  return process.memoryUsage().heapUsed
}

t.test('reads that are left early leave nothing in memory', async (t) => {
  const store = connectEventStore(t, await startEventStore(t))
  const { position } = await append(store, 'guestToken-1', 50)
  if (position === undefined) throw new Error('The append has no position')
  const reads = {
    'the end of the log': () => store.head(),
    'the event before a position': () => store.positionBefore(position),
    'the next event of a subscription': () => store.subscriptions.nextMatching(undefined, ['guestToken-']),
  }
  for (const [name, read] of Object.entries(reads)) {
    // The first reads are compiled, which takes memory once.
    for (let n = 0; n < 300; n++) await read()
    const before = await usedHeapBytes()
    for (let n = 0; n < 300; n++) await read()
    const grownBytes = (await usedHeapBytes()) - before
    // A call that is kept takes several kilobytes.
    t.ok(grownBytes < 800_000, `${name}: ${grownBytes} bytes more after 300 reads`)
  }
})
