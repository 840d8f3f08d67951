// Assembling chunks into appends: repeated correlation ids, and backpressure.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openBatch } from '../testing/batchSession.ts'
import { blockCommits } from '../testing/blockedCommits.ts'
import { batchRequest, connectRaw, wordFor } from '../testing/rawStreams.ts'
import { startServerHarness } from '../testing/serverHarness.ts'
import { startWriter } from '../testing/writerHarness.ts'
import { createReceiver } from './batchReceiver.ts'
import { createPendingBytes } from './pendingBytes.ts'

t.test('a correlation id whose append is complete starts a new append and gets its own reply', async (t) => {
  const { node } = await startServerHarness(t)
  const batch = openBatch(t, connectRaw(t, node.port))
  const correlationId = randomUUID()
  batch.send(
    { correlationId, stream: 'one', events: [{}], final: false },
    { correlationId, events: [{}] },
    { correlationId, stream: 'other', expected: 'no_stream', events: [{}] },
    // Starts after the first one, so it also times out later.
    { stream: 'unfinished', events: [{}], final: false },
  )
  const replies = await batch.first(3)
  t.same(replies.map(wordFor), ['revision 1', 'revision 0', 'Timeout'])
  t.equal((await batch.allSoFar()).length, 3)
})

t.test('a client is paused while more than 64 MiB wait for the writer', async (t) => {
  const { databaseUrl, writer } = await startWriter(t)
  t.teardown(writer.stop)
  const commits = await blockCommits(t, databaseUrl)
  const pauses: Promise<unknown>[] = []
  const responses: Promise<void>[] = []
  const channel = {
    closed: () => false,
    reply: () => undefined,
    fail: (error: Error) => t.fail('the call failed', { error }),
    pauseUntil: (ready: Promise<unknown>) => pauses.push(ready),
    during: (work: Promise<void>) => responses.push(work),
    onClose: () => undefined,
  }
  const receive = createReceiver(channel, { writer, maxAppendBytes: 1 << 20, held: createPendingBytes(1 << 30) })
  // Metadata does not count towards the maximum append size: 8 MiB each.
  const append = () => receive(batchRequest({ stream: 's', events: [{ metadata: Buffer.alloc(8 << 20, 'm') }] }))
  append()
  await commits.untilOneWaits()
  for (let waiting = 0; waiting < 7; waiting += 1) append()
  t.equal(pauses.length, 0, 'less than 64 MiB wait')
  append()
  t.equal(pauses.length, 1)
  await commits.letGo()
  await Promise.all([...pauses, ...responses])
})
