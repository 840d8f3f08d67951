// Copies that are rejected.
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { NIL } from 'uuid'
import { readStreamEvents } from '../read/reads.ts'
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
import { copyLog } from './copyLog.ts'

t.test('a copy to a target with other events fails and leaves it unchanged', async (t) => {
  const { source, target } = await startLogs(t)
  await source.client.appendToStream('own-1', numberedEvent(1))
  await target.client.appendToStream('foreign-1', numberedEvent(1))
  const before = await logContents(target)
  await t.rejects(copyTestLog(source, target), {
    name: 'LogDifferenceError',
    message: /differ in place, id: .* the target foreign-1@0 \(Numbered/,
  })
  t.same(await logContents(target), before)
})

t.test('a copy to a target with more events than the source fails', async (t) => {
  const { source, target } = await startLogs(t)
  await source.client.appendToStream('own-1', numberedEvent(1))
  await copyTestLog(source, target)
  await target.client.appendToStream('foreign-1', numberedEvent(1))
  await t.rejects(copyTestLog(source, target), {
    name: 'LogDifferenceError',
    message: /^The target has foreign-1@0 .*, which is not in the source$/,
  })
})

t.test('a copy of a scavenged source fails at the first gap', async (t) => {
  const { source, target } = await startLogs(t)
  await source.client.appendToStream('part-1', [numberedEvent(0), numberedEvent(1), numberedEvent(2), numberedEvent(3)])
  for (const missing of [2, 0]) {
    await inDatabase(source, (database) =>
      database.query(`delete from event_store.events where stream = 'part-1' and revision = $1`, [missing]),
    )
    await t.rejects(copyTestLog(source, target), {
      name: 'LogDifferenceError',
      message:
        missing === 2
          ? /^the target rejects part-1@3 .*: earlier events of its stream are missing/
          : /^The logs differ in place, id, data: the source has part-1@1 /,
    })
    t.equal((await logContents(target)).length, 2)
  }
})

t.test('a copy of a stream with metadata, or of a deleted one, is rejected by name', async (t) => {
  const changes: Readonly<Record<string, (client: TestLog['client']) => Promise<unknown>>> = {
    '$$one-1@0': (client) => client.setStreamMetadata('one-1', { maxCount: 2 }),
    '$$two-1@0': (client) => client.deleteStream('two-1'),
    [`three-1@${2n ** 63n - 1n}`]: (client) => client.tombstoneStream('three-1'),
  }
  for (const [name, change] of Object.entries(changes)) {
    const { source, target } = await startLogs(t)
    for (const stream of ['one-1', 'two-1', 'three-1']) await source.client.appendToStream(stream, numberedEvent(0))
    await change(source.client)
    await t.rejects(copyTestLog(source, target), {
      name: 'NotCopyableError',
      message: `the source has ${name} `,
    })
  }
})

t.test('a copy error names the event that is too large for the target', async (t) => {
  const { source, target } = await startLogs(t)
  await appendRaw(source.raw, [rawEventFixture('large-1', 0, { data: `"${'x'.repeat(1_000_000)}"` })])
  await inDatabase(source, (database) =>
    database.query(`update event_store.events set data = data || data where stream = 'large-1'`),
  )
  await t.rejects(copyTestLog(source, target), { name: 'LogUnusableError', message: /^the target: .*large-1@0/ })
})

t.test('a checkpoint of another log is rejected before anything is copied', async (t) => {
  const { source, target } = await startLogs(t)
  await source.client.appendToStream('own-1', numberedEvent(1))
  const [event] = await readStreamEvents(source.raw, 'own-1', {})
  const there = event?.position ?? positionAt(0n)
  for (const checkpoint of [positionAt(1_000n), { ...there, eventId: NIL }]) {
    const [from, to] = [source.store.connectionString, target.store.connectionString]
    await t.rejects(copyLog({ from, to, checkpoints: [checkpoint], onProgress: () => undefined }), {
      name: 'NotCopyableError',
      message: `The source does not have the event ${checkpoint.eventId} at position ${checkpoint.commit}, so`,
    })
  }
  t.same(await logContents(target), [])
})

t.test('a copy to an unreachable address, or with the wrong TLS setting, fails with a clear message', async (t) => {
  const { source } = await startLogs(t)
  const to = 'esdb://127.0.0.1:1?tls=false'
  const copying = copyLog({ from: source.store.connectionString, to, onProgress: () => undefined })
  await t.rejects(copying, {
    name: 'LogUnusableError',
    message: 'the target cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
  })
  const withTls = copyLog({
    from: source.store.connectionString.replace('tls=false', 'tls=true'),
    to,
    onProgress: () => undefined,
  })
  await t.rejects(withTls, { message: /^the source cannot be reached: a server without TLS needs tls=false: .*SSL/ })
})
