// Paged reads of the log reach its end, even with very large events.
import { startEventStore } from '@paylog/testing/eventStore'
import t, { type Test } from 'tap'
import { type CallContext, createRawClient } from '../connection/calls.ts'
import { appendRaw } from '../copy-log/appendRaw.ts'
import { rawEventFixture as event } from '../testing/copyLogHarness.ts'
import { startFakeEventStore } from '../testing/fakeEventStore.ts'
import { eventMessage } from '../testing/grpcMessages.ts'

import type { RawEvent } from './rawEvent.ts'
import { readEvents, readPagesBackwards } from './readPage.ts'
import { readStreamPage } from './reads.ts'

function clientOf(t: Test, connectionString: string) {
  const client = createRawClient({ name: 'the log', connectionString })
  t.teardown(() => client.close())
  return client
}

async function* backwards(client: CallContext): AsyncGenerator<RawEvent> {
  for await (const events of readPagesBackwards(client)) yield* events
}

async function namesOf(events: AsyncIterable<RawEvent>): Promise<string[]> {
  const names: string[] = []
  for await (const { stream, revision } of events) if (!stream.startsWith('$')) names.push(`${stream}@${revision}`)
  return names
}

t.test('raw reads continue after events that fill a page each', async (t) => {
  const { connectionString } = await startEventStore(t, { MAX_APPEND_BYTES: String(16 << 20) })
  const client = clientOf(t, connectionString)
  const data = JSON.stringify('x'.repeat(9 << 20))
  await appendRaw(client, [event('large-1', 0)])
  await appendRaw(client, [event('large-1', 1, { data })])
  await appendRaw(client, [event('large-1', 2, { data })])
  await appendRaw(client, [event('small-1', 0, { type: 'Other' })])
  await appendRaw(client, [event('large-1', 3)])
  const ofLarge = ['large-1@0', 'large-1@1', 'large-1@2', 'large-1@3']
  const all = ofLarge.toSpliced(3, 0, 'small-1@0')
  t.same(await namesOf(readEvents(client)), all)
  t.same(await namesOf(readEvents(client, { filter: { streamPrefixes: ['large-'] } })), ofLarge)
  t.same(await namesOf(readEvents(client, { filter: { typePrefix: 'Raw' } })), ofLarge)
  t.same(await namesOf(backwards(client)), all.toReversed())
  const revisions: bigint[] = []
  for (let next = 0n, isLast = false; !isLast; next = (revisions.at(-1) ?? 0n) + 1n) {
    const page = await readStreamPage(client, 'large-1', next, 500)
    t.ok(page.isLast || page.events.length > 0)
    revisions.push(...page.events.map(({ revision }) => revision))
    isLast = page.isLast
  }
  t.same(revisions, [0n, 1n, 2n, 3n])
})

t.test('a server that repeats the same events is an error, not the end of the log', async (t) => {
  const same = eventMessage({ number: 1, stream: 'guestToken-1' })
  const { connectionString } = await startFakeEventStore(t, {
    read(call) {
      for (let count = 0; count < 2_001; count++) call.write(same)
      call.end()
    },
  })
  const client = clientOf(t, connectionString)
  await t.rejects(namesOf(readEvents(client)), {
    name: 'LogUnusableError',
    message: /^the log: no events were returned after position 1\b/,
  })
})
