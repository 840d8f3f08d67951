// A copy has the same events in the same order, and its streams behave the same.
import { binaryEvent } from '@eventstore/db-client'
import type { LogCheckpoint } from '@paylog/domain/events'
import t from 'tap'
import { isSystemStream } from '../read/rawEvent.ts'
import { readEvents } from '../read/readPage.ts'
import {
  copyTestLog,
  inDatabase,
  logContents,
  numberedEvent,
  rawEventFixture,
  startLogs,
  type TestLog,
} from '../testing/copyLogHarness.ts'
import { appendRaw } from './appendRaw.ts'
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
  await source.client.setStreamMetadata('$all', { acl: { readRoles: ['$all'] } })
  const progress: CopyProgress[] = []
  const result = await copyTestLog(source, target, (each) => progress.push(each))
  t.match(result, { events: 8, copied: 8, alreadyThere: 0, recordedSince: 0 })
  t.ok(result.systemEventsLeftOut >= 2)
  const copied = await logContents(target)
  t.same(copied, await logContents(source))
  t.equal(copied.length, 8)
  const head = progress[0]?.head
  t.match(
    progress.findLast(({ phase }) => phase === 'copying'),
    { events: 8, head },
  )
  t.match(progress.at(-1), { phase: 'comparing', events: 8, head })
})

t.test('events as large as a read page are copied, and so are the events after them', async (t) => {
  const { source, target } = await startLogs(t, { MAX_APPEND_BYTES: String(16 << 20) })
  const data = JSON.stringify('x'.repeat(9 << 20))
  for (const revision of [0, 1]) await appendRaw(source.raw, [rawEventFixture('large-1', revision, { data })])
  await appendRaw(source.raw, [rawEventFixture('small-1', 0)])
  t.match(await copyTestLog(source, target), { events: 3, copied: 3, recordedSince: 0 })
  const events: string[] = []
  for await (const { stream, revision, data } of readEvents(target.raw)) {
    if (!isSystemStream(stream)) events.push(`${stream}@${revision} ${data.length}`)
  }
  t.same(events, [`large-1@0 ${data.length}`, `large-1@1 ${data.length}`, 'small-1@0 2'])
})

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

t.test('a checkpoint is moved to the same event of the target, and once', async (t) => {
  const { source, target } = await startLogs(t)
  for (const stream of ['$before', 'first-1', '$between', 'second-1', 'first-1'])
    await source.client.appendToStream(stream, numberedEvent(1))
  // Make the target's positions differ from the source's.
  for (let count = 0; count < 5; count += 1) await target.client.appendToStream('$own', numberedEvent(count))
  const checkpointsOf = async ({ raw }: TestLog) =>
    (await Array.fromAsync(readEvents(raw)))
      .filter(({ stream }) => !isSystemStream(stream))
      .map(({ position }) => position)
      .toReversed()
  const copyWith = async (checkpoints: readonly LogCheckpoint[]) => {
    const [from, to] = [source.store.connectionString, target.store.connectionString]
    return (await copyLog({ from, to, checkpoints, onProgress: () => undefined })).checkpoints
  }
  const moved = await copyWith(await checkpointsOf(source))
  t.same(moved, await checkpointsOf(target))
  t.same(await copyWith(await checkpointsOf(target)), [undefined, undefined, undefined])
})
