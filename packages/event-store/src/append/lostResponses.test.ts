// Appends whose answer is lost: made again, they are found again, whatever happened to the stream meanwhile.

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

const node = await startEventStore(t)
const direct = connectEventStore(t, node)
let streams = 0

type Meanwhile = (store: EventStore, stream: string) => Promise<unknown>

const happenings: Record<string, Meanwhile> = {
  'nothing happens': async () => {},
  'others append': (store, stream) => append(store, stream, 3),
  'the stream is deleted': ({ client }, stream) => client.deleteStream(stream),
  async 'the stream is truncated'(store, stream) {
    await append(store, stream, 3)
    await store.client.setStreamMetadata(stream, { truncateBefore: 4 })
  },
}

t.test('an append without an answer is made again, and is there once', async (t) => {
  for (const before of [0, 1]) {
    for (const [name, happen] of Object.entries(happenings)) {
      await t.test(`${before} events, then ${name}`, async (t) => {
        const { decisions, handling, answer, stream } = await appendWithoutAnswer(t, before)
        await happen(direct, stream)
        const end = await direct.head()
        answer()
        t.equal((await handling).revision, BigInt(before), 'its own revision')
        t.equal(decisions(), 1)
        t.same(await direct.head(), end, 'nothing more is in the log')
      })
    }
  }
})

t.test('a refusal of an append that was made before does not say that nothing is recorded', async (t) => {
  const { handling, answer, stream } = await appendWithoutAnswer(t, 0)
  await direct.client.tombstoneStream(stream)
  const told = t.rejects(handling, { code: 'event_store_unavailable', message: /may or may not be recorded/ })
  answer()
  await told
})

/** Appends an event to a stream of so many; `answer` lets the repetition get its answer. */
async function appendWithoutAnswer(t: Test, before: number) {
  const stream = `guestToken-${++streams}`
  if (before > 0) await append(direct, stream, before)
  const proxy = await startTcpProxy(t, Number(new URL(node.connectionString).port))
  const store = connectEventStore(t, withoutKeepalive(proxy.port), { appendTimeoutMs: 500 })
  const known = before === 0 ? newStream(countFold) : await store.load(stream, countFold)
  // The connection of the appends is there, and asks nothing more, before answers are lost.
  await append(store, `guestToken-${++streams}`, 1)
  let decided = 0
  proxy.dropResponses()
  const decide = () => {
    decided++
    return [guestTokenSeen]
  }
  const handling = store.handle({ stream, fold: countFold, decide, metadata, known })
  await proxy.responseDropped()
  return { stream, handling, decisions: () => decided, answer: () => proxy.heal() }
}
