// After a restart unknown streams are assumed new; a wrong assumption is detected at the commit.
import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t, { type Test } from 'tap'
import { startEmbeddedEventStore } from '../embeddedEventStore.ts'
import { batchAppend, type Chunk, connectRaw, wordFor } from '../testing/rawStreams.ts'
import { connect, numbered } from '../testing/serverHarness.ts'

async function startOn(t: Test, databaseUrl: string) {
  return startEmbeddedEventStore({
    host: '127.0.0.1',
    port: 0,
    databaseUrl,
    log: createLog({ app: 'embedded-event-store', level: 'silent' }),
    fail: (error) => t.fail('the server gave up', { error }),
  })
}

t.test('every expected revision has the same result after a restart', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const first = await startOn(t, databaseUrl)
  let stopped: Promise<void> | undefined
  t.teardown(() => stopped ?? first.stop())
  const past = connect(t, first.port)
  const id = randomUUID()
  // An append with any expected revision is recognised by its id only in the stream where the id occurred first.
  const written = ['any-repeated', 'written', 'repeated', 'exact', 'any', 'exists', 'contested', 'mixed']
  for (const stream of written)
    await past.appendToStream(stream, jsonEvent({ id, type: 'Numbered', data: { number: 0 } }))
  await past.setStreamMetadata('only-metadata', { maxCount: 3 })
  await past.appendToStream('deleted', numbered(0, 3))
  await past.deleteStream('deleted')
  await past.tombstoneStream('tombstoned')
  await past.dispose()
  stopped = first.stop()
  await stopped

  const second = await startOn(t, databaseUrl)
  t.teardown(() => second.stop())
  const raw = connectRaw(t, second.port)
  const table: [Chunk, string][] = [
    [{ stream: 'new', expected: 'no_stream', events: [{}] }, 'revision 0'],
    [{ stream: 'new-any', expected: 'any', events: [{}] }, 'revision 0'],
    [{ stream: 'new-exact', expected: 0, events: [{}] }, 'WrongExpectedVersion'],
    [{ stream: 'new-exists', expected: 'stream_exists', events: [{}] }, 'WrongExpectedVersion'],
    [{ stream: 'new-empty', expected: 'no_stream', events: [] }, 'no stream'],
    [{ stream: 'written', expected: 'no_stream', events: [{}] }, 'WrongExpectedVersion'],
    [{ stream: 'repeated', expected: 'no_stream', events: [{ id }] }, 'revision 0'],
    [{ stream: 'exact', expected: 0, events: [{}] }, 'revision 1'],
    [{ stream: 'any', expected: 'any', events: [{}] }, 'revision 1'],
    [{ stream: 'any-repeated', expected: 'any', events: [{ id }] }, 'revision 0'],
    [{ stream: 'exists', expected: 'stream_exists', events: [{}] }, 'revision 1'],
    [{ stream: 'only-metadata', expected: 'stream_exists', events: [{}] }, 'revision 0'],
    [{ stream: 'deleted', expected: 'no_stream', events: [{}] }, 'revision 3'],
    [{ stream: 'tombstoned', expected: 'any', events: [{}] }, 'StreamDeleted'],
    [{ stream: '$$written', expected: 'no_stream', events: [{}] }, 'revision 0'],
  ]
  for (const [chunk, word] of table) {
    const [reply] = await batchAppend(raw, [chunk])
    t.equal(wordFor(reply), word, `${chunk.stream} ${chunk.expected}`)
  }

  const together = await batchAppend(
    raw,
    ['mixed', 'fresh-1', 'contested', 'fresh-1', 'fresh-2'].map((stream) => ({
      stream,
      expected: 'no_stream' as const,
      events: [{}],
    })),
    5,
  )
  const words = ['WrongExpectedVersion', 'WrongExpectedVersion', 'WrongExpectedVersion', 'revision 0', 'revision 0']
  t.same(together.map(wordFor).toSorted(), words.toSorted(), 'all in one group')
})

t.test('an event id belongs to the stream in which it occurred first', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const node = await startOn(t, databaseUrl)
  t.teardown(() => node.stop())
  const raw = connectRaw(t, node.port)
  const [one, two] = [randomUUID(), randomUUID()]
  const table: [string, Chunk['expected'], string[], string][] = [
    ['first', 'any', [one], 'revision 0'],
    ['second', 'any', [one], 'revision 0'],
    ['second', 'any', [one], 'revision 1'],
    ['first', 'any', [one], 'revision 0'],
    ['second', 'any', [two], 'revision 2'],
    ['second', 'any', [two], 'revision 2'],
    ['second', 'stream_exists', [two, one], 'WrongExpectedVersion'],
  ]
  for (const [stream, expected, ids, word] of table) {
    const [reply] = await batchAppend(raw, [{ stream, expected, events: ids.map((id) => ({ id })) }])
    t.equal(wordFor(reply), word, `${stream} ${expected}`)
  }
})
