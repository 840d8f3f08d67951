// Appends whose response is lost: the store recognises the repetition, even if the stream has changed meanwhile.

import { startEventStore } from '@paylog/testing/eventStore'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import t, { type Test } from 'tap'
import { type EventStore, newStream } from '../eventStore.ts'
import {
  append,
  connectEventStore,
  countFold,
  guestTokenSeen,
  metadata,
  withoutKeepalive,
} from '../testing/eventStoreHarness.ts'

const testStore = await startEventStore(t)
const direct = connectEventStore(t, testStore)
let streams = 0

type Interleaving = (store: EventStore, stream: string) => Promise<unknown>

const interleavings: Record<string, Interleaving> = {
  'no change': async () => {},
  'another writer appends': (store, stream) => append(store, stream, 3),
}

t.test('an append without a response is repeated and recorded once', async (t) => {
  for (const before of [0, 1]) {
    for (const [name, interleave] of Object.entries(interleavings)) {
      await t.test(`an append with a lost response is recorded once: ${before} events, ${name}`, async (t) => {
        const { decisions, handling, respond, stream } = await appendWithoutResponse(t, before)
        await interleave(direct, stream)
        const end = await direct.head()
        respond()
        t.equal((await handling).revision, BigInt(before), 'the revision of the append')
        t.equal(decisions(), 1)
        t.same(await direct.head(), end, 'nothing was recorded twice')
      })
    }
  }
})

t.test('an append whose repetition is rejected fails with an unknown outcome', async (t) => {
  const { handling, respond, stream } = await appendWithoutResponse(t, 0)
  await direct.client.tombstoneStream(stream)
  const failing = t.rejects(handling, { code: 'event_store_unavailable', message: /may or may not be recorded/ })
  respond()
  await failing
})

/** Appends an event to a stream of `before` events and drops the response; `respond` lets the repetition through. */
async function appendWithoutResponse(t: Test, before: number) {
  const stream = `guestToken-${++streams}`
  if (before > 0) await append(direct, stream, before)
  const proxy = await startTcpProxy(t, Number(new URL(testStore.connectionString).port))
  const store = connectEventStore(t, withoutKeepalive(proxy.port), { appendTimeoutMs: 500 })
  const assumed = before === 0 ? newStream(countFold) : await store.load(stream, countFold)
  // Opens the append connection before responses are dropped.
  await append(store, `guestToken-${++streams}`, 1)
  let decided = 0
  proxy.dropResponses()
  const decide = () => {
    decided++
    return [guestTokenSeen]
  }
  const handling = store.handle({ stream, fold: countFold, decide, metadata, assumed })
  await proxy.responseDropped()
  return { stream, handling, decisions: () => decided, respond: () => proxy.heal() }
}
