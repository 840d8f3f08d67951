// A copy has the same events in the same order, and its streams behave the same.
import { binaryEvent } from '@eventstore/db-client'
import type { LogPosition } from '@paylog/domain/events'
import t from 'tap'
import { isCopiedStream } from '../read/rawEvent.ts'
import { readEvents } from '../read/readPage.ts'
import {
  copyTestLog,
  inDatabase,
  logContents,
  numberedEvent,
  rawEventFixture,
  startLogs,
  type TestLog,
  withoutIds,
} from '../testing/copyLogHarness.ts'
import { appendRaw } from './copyEvents.ts'
import { type CopyProgress, copyLog } from './copyLog.ts'

t.test('a copy keeps bytes, ids, revisions and order of all events', async (t) => {
  const { source, target } = await startLogs(t)
  await appendRaw(source.raw, [
    rawEventFixture('exact-1', 0, { data: '{"b":1.10,"a":12345678901234567890,"a":1e400 ,\n"ä":"\\u00e4"}' }),
    rawEventFixture('exact-1', 1, { data: 'not JSON at all', metadata: Buffer.from('{"$causationId": "x" }') }),
    rawEventFixture('exact-1', 2, { data: '', metadata: Buffer.from([0, 255, 1]) }),
    rawEventFixture('exact-1', 3, { type: 'An unknown type, with spaces and ünicode' }),
  ])
  await source.client.appendToStream('binary-1', binaryEvent({ type: 'Bytes', data: Buffer.from([0, 1, 255, 254]) }))
  await appendRaw(source.raw, [rawEventFixture('exact-1', 4, { data: '{"after":"another stream"}' })])
  await source.client.appendToStream('links-1', binaryEvent({ type: '$>', data: Buffer.from('0@exact-1') }))
  await source.client.appendToStream('stream with ünicode', numberedEvent(1))
  await source.client.appendToStream('$system', numberedEvent(1))
  await source.client.setStreamMetadata('exact-1', { maxCount: 2, acl: { readRoles: ['$all'] }, custom: [1] })
  const progress: CopyProgress[] = []
  const result = await copyTestLog(source, target, (each) => progress.push(each))
  t.match(result, { events: 9, copied: 9, alreadyThere: 0, madeByServer: 0, recordedSince: 0 })
  t.ok(result.systemEventsLeftOut >= 1)
  const copied = await logContents(target)
  t.same(copied, await logContents(source))
  t.equal(copied.length, 9, 'including truncated events')
  t.match(
    progress.findLast(({ phase }) => phase === 'copy'),
    { events: 9, of: 9 },
  )
  t.match(progress.at(-1), { phase: 'verification', events: 9, of: 9 })
})

t.test('events as large as a read page are copied, and so are the events after them', async (t) => {
  const { source, target } = await startLogs(t, { MAX_APPEND_BYTES: String(16 << 20) })
  const data = JSON.stringify('x'.repeat(9 << 20))
  for (const revision of [0, 1]) await appendRaw(source.raw, [rawEventFixture('large-1', revision, { data })])
  await appendRaw(source.raw, [rawEventFixture('small-1', 0)])
  t.match(await copyTestLog(source, target), { events: 3, copied: 3, recordedSince: 0 })
  const events: string[] = []
  for await (const { stream, revision, data } of readEvents(target.raw)) {
    if (isCopiedStream(stream)) events.push(`${stream}@${revision} ${data.length}`)
  }
  t.same(events, [`large-1@0 ${data.length}`, `large-1@1 ${data.length}`, 'small-1@0 2'])
})

t.test('deleted, restored and closed streams are equal in the copy and read the same', async (t) => {
  const { source, target } = await startLogs(t)
  const { client } = source
  for (const stream of ['gone-1', 'back-1', 'twice-1', 'metadata-1', 'emptied-1', 'closed-1', 'plain-1']) {
    await client.appendToStream(stream, [numberedEvent(0), numberedEvent(1)])
  }
  await client.setStreamMetadata('back-1', { maxAge: 1_000, custom: { list: [1, 2] } })
  for (const stream of ['gone-1', 'back-1', 'twice-1', 'metadata-1']) await client.deleteStream(stream)
  await client.deleteStream('twice-1')
  await client.appendToStream('back-1', [numberedEvent(2), numberedEvent(3)], { expectedRevision: 1n })
  await client.appendToStream('plain-1', numberedEvent(2))
  await client.setStreamMetadata('metadata-1', { maxCount: 7 })
  await client.deleteStream('back-1')
  await client.appendToStream('back-1', numberedEvent(4))
  await client.tombstoneStream('closed-1')
  await client.tombstoneStream('closed-2')
  await client.setStreamMetadata('only-metadata', { maxCount: 3 })
  await client.appendToStream('plain-1', numberedEvent(3))

  const result = await copyTestLog(source, target)
  const expected = await logContents(source)
  t.same(withoutIds(await logContents(target)), withoutIds(expected))
  const made = (await logContents(target)).filter((line, index) => line !== expected[index])
  t.equal(result.madeByServer, made.length)
  // Twice back-1, once metadata-1, the second deletion of twice-1, and two tombstones.
  t.same(made.map((line) => line.split(' ')[0]).sort(), [
    '$$back-1',
    '$$back-1',
    '$$metadata-1',
    '$$twice-1',
    'closed-1',
    'closed-2',
  ])
  for (const stream of ['gone-1', 'back-1', 'twice-1', 'metadata-1', 'closed-1', 'closed-2', 'plain-1']) {
    t.same(await readable(target, stream), await readable(source, stream), stream)
  }
  t.match(await copyTestLog(source, target), { copied: 0, alreadyThere: expected.length })
})

/** The revisions that a reader gets, or the error type. */
async function readable({ client }: TestLog, stream: string): Promise<unknown> {
  const found: unknown[] = []
  try {
    for await (const { event } of client.readStream(stream)) found.push(event?.revision)
    return found
  } catch (error) {
    return error instanceof Error && 'type' in error ? error.type : error
  }
}

t.test('consecutive events of one stream are copied in appends of at most 500', async (t) => {
  const { source, target } = await startLogs(t)
  const events = Array.from({ length: 600 }, (_, revision) => rawEventFixture('long-1', revision))
  await appendRaw(source.raw, events)
  await copyTestLog(source, target)
  await inDatabase(target, async (database) => {
    const text = `select count(*)::integer as events from event_store.events where stream = 'long-1'
      group by xmin::text order by 1`
    t.same((await database.query(text)).rows, [{ events: 100 }, { events: 500 }])
  })
})

t.test('a stream whose restoring metadata was recorded late in the source is copied', async (t) => {
  const { source, target } = await startLogs(t)
  await source.client.appendToStream('late-1', numberedEvent(0))
  await source.client.deleteStream('late-1')
  await source.client.appendToStream('late-1', numberedEvent(1))
  await source.client.appendToStream('other-1', numberedEvent(0))
  await source.client.appendToStream('other-2', numberedEvent(0))
  // EventStoreDB may record other events before the metadata that restores the stream.
  await inDatabase(source, async (database) => {
    await database.query(`update event_store.events set position = position + 100 where stream like 'other-%'`)
    await database.query(
      `update event_store.events set position = position + 200 where stream = '$$late-1' and revision = 1`,
    )
    await database.query('update event_store.writer set last_position = 1000')
  })
  const result = await copyTestLog(source, target)
  t.match(result, { events: 6, copied: 6, madeByServer: 1 })
  const sorted = (lines: readonly string[]) => withoutIds(lines).sort()
  t.same(sorted(await logContents(target)), sorted(await logContents(source)))
  // The target records it at once.
  const order = (await logContents(target)).map((line) => line.split(' ')[0])
  t.same(order, ['late-1', '$$late-1', 'late-1', '$$late-1', 'other-1', 'other-2'])
  t.match(await copyTestLog(source, target), { copied: 0, alreadyThere: 6 })
})

t.test('a position is translated to the last copied event at or before it', async (t) => {
  const { source, target } = await startLogs(t)
  const positions: LogPosition[] = []
  const append = async (stream: string) => {
    const { position } = await source.client.appendToStream(stream, numberedEvent(1))
    if (position) positions.push(position)
  }
  for (const stream of ['$before', 'first-1', '$between', 'second-1', 'third-1', '$after']) await append(stream)
  // Make the target's positions differ from the source's.
  for (let count = 0; count < 5; count += 1) await target.client.appendToStream('$own', numberedEvent(count))
  const shuffled = positions.toReversed()
  const result = await copyLog({
    from: source.store.connectionString,
    to: target.store.connectionString,
    positions: shuffled,
    onProgress: () => undefined,
  })
  const names: (string | undefined)[] = []
  for (const position of result.positions.toReversed()) {
    const found: (string | undefined)[] = []
    for await (const event of readEvents(target.raw)) {
      if (event.position.commit === position?.commit && event.id === position.eventId) found.push(event.stream)
    }
    names.push(found[0])
  }
  t.same(names, [undefined, 'first-1', 'first-1', 'second-1', 'third-1', 'third-1'])
  t.equal(result.positions.at(-1), undefined, 'before the first event')
})
