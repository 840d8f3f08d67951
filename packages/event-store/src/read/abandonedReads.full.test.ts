// Reads that stop before the end of their response must not leak memory.

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { append, connectEventStore } from '../testing/eventStoreHarness.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

async function usedHeapBytes(): Promise<number> {
  // A call ends some event loop turns after it is abandoned, and its own collection frees more.
  for (let round = 0; round < 2; round++) {
    await sleep(200)
    collectGarbage()
  }
  return process.memoryUsage().heapUsed
}

t.test('reads that stop early do not leak memory', async (t) => {
  const store = connectEventStore(t, await startEventStore(t))
  const { position } = await append(store, 'guestToken-1', 50)
  if (position === undefined) throw new Error('The append has no position')
  const reads = {
    'the end of the log': () => store.head(),
    'a page of the log': () => store.lag(undefined, ['guestToken-'], { maxEvents: 1 }),
    'the checkpoint before a position': () => store.checkpointBefore(position),
  }
  for (const [name, read] of Object.entries(reads)) {
    // Warm-up: compiling the code takes memory once.
    for (let n = 0; n < 300; n++) await read()
    // A leak grows each time; on a busy machine calls may end late once.
    const grownBytes: number[] = []
    for (let round = 0; round < 3; round++) {
      const before = await usedHeapBytes()
      for (let n = 0; n < 300; n++) await read()
      grownBytes.push((await usedHeapBytes()) - before)
    }
    // A leaked call takes several kilobytes.
    t.ok(Math.min(...grownBytes) < 800_000, `${name}: ${grownBytes.join(', ')} bytes more after 300 reads each`)
  }
})
