// Soft deletion, every way to restore a stream, and tombstones.
import t from 'tap'
import { deleteStream, tombstoneStream } from '../rawCalls.ts'
import type { RawExpectation } from '../rawMessages.ts'
import { readMessages, readRequest } from '../rawReads.ts'
import { type Append, appendEitherWay, bothWays } from './appendEitherWay.ts'
import { lastMetadata, shown } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client, isKurrentDb } = await conformanceTarget(t)

const read = (stream: string) => shown(raw, { stream, from: 'start' })
const append = (stream: string, count: number) =>
  appendEitherWay(raw, 'BatchAppend', { stream, events: Array.from({ length: count }, () => ({})) })
const setMetadata = (stream: string, data: string, more: Partial<Append> = {}) =>
  appendEitherWay(raw, 'BatchAppend', {
    stream: `$$${stream}`,
    events: [{ type: '$metadata', contentType: 'application/json', data }],
    ...more,
  })

async function deletedStream(): Promise<string> {
  const stream = freshName('deleted')
  await append(stream, 3)
  await client.deleteStream(stream)
  return stream
}

for (const way of bothWays) {
  t.test(`${way}: a deleted stream is restored by an append with a matching expected revision`, async (t) => {
    const table: [RawExpectation, string][] = [
      ['any', 'revision 4'],
      ['no_stream', 'revision 4'],
      [2, 'revision 4'],
      ['stream_exists', 'deleted'],
      [1, 'wrong, at 2'],
      [0, 'wrong, at 2'],
      [3, 'wrong, at 2'],
    ]
    for (const [expected, word] of table) {
      const stream = await deletedStream()
      t.same(await read(stream), ['not found'])
      t.equal((await appendEitherWay(raw, way, { stream, expected, events: [{}, {}] })).word, word, String(expected))
      const isBack = word === 'revision 4'
      t.same(await read(stream), isBack ? ['3', '4'] : ['not found'], String(expected))
      t.equal(await lastMetadata(raw, stream), isBack ? '1: {"$tb":3}' : '0: {"$tb":9223372036854775807}')
    }
  })

  t.test(`${way}: an empty append restores a deleted stream without events`, async (t) => {
    for (const expected of ['any', 2] as const) {
      const stream = await deletedStream()
      t.equal((await appendEitherWay(raw, way, { stream, expected, events: [] })).word, 'revision 2', String(expected))
      t.same(await read(stream), [], String(expected))
      t.equal(await lastMetadata(raw, stream), '1: {"$tb":3}')
    }
    if (isKurrentDb) return
    const stream = await deletedStream()
    t.equal((await appendEitherWay(raw, way, { stream, expected: 'no_stream', events: [] })).word, 'wrong, at 2')
    t.same(await read(stream), ['not found'])
  })
}

t.test('new metadata restores a deleted stream without events, and keeps its other keys', async (t) => {
  const table: [string, string, string[]][] = [
    ['{"owner":"x","$maxCount":1}', '2: {"owner":"x","$maxCount":1,"$tb":3}', []],
    ['{"$tb":1,"z":1.0,"big":12345678901234567890}', '2: {"$tb":3,"z":1.0,"big":12345678901234567890}', []],
    ['{}', '2: {"$tb":3}', []],
    // Metadata that is not a JSON object stays as it is and truncates nothing.
    ['nonsense', '1: nonsense', ['0', '1', '2']],
    ['[]', '1: []', ['0', '1', '2']],
  ]
  for (const [text, metadata, revisions] of table) {
    const stream = await deletedStream()
    t.equal((await setMetadata(stream, text, { expected: 0 })).word, 'revision 1', text)
    t.same(await read(stream), revisions, text)
    t.equal(await lastMetadata(raw, stream), metadata)
    t.equal((await append(stream, 1)).word, 'revision 3')
    t.same(await read(stream), [...revisions, '3'], text)
  }
})

t.test('metadata with the deletion marker deletes the stream when a client writes it', async (t) => {
  const stream = freshName('by-hand')
  await append(stream, 2)
  await setMetadata(stream, '{"$tb":9223372036854775807,"kept":true}')
  t.same(await read(stream), ['not found'])
  const exists = await appendEitherWay(raw, 'Append', { stream, expected: 'stream_exists', events: [{}] })
  t.equal(exists.word, 'deleted')
  t.equal((await append(stream, 1)).word, 'revision 2')
  t.same(await read(stream), ['2'])
  t.equal(await lastMetadata(raw, stream), '1: {"$tb":2,"kept":true}')
})

t.test('a stream can be deleted and restored repeatedly', async (t) => {
  const stream = await deletedStream()
  for (const round of [1, 2, 3]) {
    t.equal((await append(stream, 1)).word, `revision ${2 + round}`)
    t.same(await read(stream), [`${2 + round}`])
    await client.deleteStream(stream, { expectedRevision: BigInt(2 + round) })
    t.same(await read(stream), ['not found'])
  }
  t.equal(await lastMetadata(raw, stream), '6: {"$tb":9223372036854775807}')
})

t.test('delete and tombstone check the expected revision', async (t) => {
  const wrong = (expected: string, actual: string, stream: string) => ({
    code: 'FAILED_PRECONDITION',
    trailers: {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': expected,
      'actual-version': actual,
    },
  })
  for (const remove of [deleteStream, tombstoneStream]) {
    const stream = freshName('expected')
    await append(stream, 2)
    t.same(await remove(raw, stream, 0), { failed: wrong('0', '1', stream) })
    t.same(await remove(raw, stream, 7), { failed: wrong('7', '1', stream) })
    t.same(await remove(raw, stream, 'no_stream'), { failed: wrong('-1', '1', stream) })
    const never = freshName('never')
    t.same(await remove(raw, never, 'stream_exists'), { failed: wrong('-4', '-1', never) })
    t.same(await remove(raw, never, 0), { failed: wrong('0', '-1', never) })
    t.same(await remove(raw, stream, 1n << 63n), { failed: { code: 'UNKNOWN', trailers: {} } })
    t.same(await remove(raw, '', 'any'), { failed: { code: 'UNKNOWN', trailers: {} } })
    const removed = await remove(raw, stream, 'stream_exists')
    t.ok('response' in removed && BigInt(removed.response.getPosition()?.getCommitPosition() ?? 0) > 0n)
  }
  const never = freshName('never')
  t.same(await deleteStream(raw, never, 'any'), { failed: wrong('-2', '-1', never) }, 'a stream that never existed')
  await setMetadata(never, '{}')
  t.ok('response' in (await deleteStream(raw, never, 'no_stream')), 'a stream with metadata only')
  t.same(await read(never), ['not found'])
})

t.test('a deleted stream can be deleted again with any matching expected revision', async (t) => {
  const stream = await deletedStream()
  for (const expected of ['any', 2, 'no_stream'] as const) {
    t.ok('response' in (await deleteStream(raw, stream, expected)), String(expected))
  }
  const deleted = { code: 'FAILED_PRECONDITION', trailers: { exception: 'stream-deleted', 'stream-name': stream } }
  t.same(await deleteStream(raw, stream, 'stream_exists'), { failed: deleted })
  t.same(await tombstoneStream(raw, stream, 'stream_exists'), { failed: deleted })
  t.equal(await lastMetadata(raw, stream), '3: {"$tb":9223372036854775807}')
})

t.test('a tombstoned stream rejects all calls, whether it existed, was deleted or never existed', async (t) => {
  const lived = freshName('lived')
  await append(lived, 2)
  for (const stream of [lived, await deletedStream(), freshName('never')]) {
    t.ok('response' in (await tombstoneStream(raw, stream, 'any')))
    const deleted = { code: 'FAILED_PRECONDITION', trailers: { exception: 'stream-deleted', 'stream-name': stream } }
    for (const expected of ['any', 'no_stream', 'stream_exists', 1] as const) {
      for (const way of bothWays) {
        t.equal((await appendEitherWay(raw, way, { stream, expected, events: [{}] })).word, 'deleted')
      }
      t.same(await deleteStream(raw, stream, expected), { failed: deleted })
      t.same(await tombstoneStream(raw, stream, expected), { failed: deleted })
    }
    if (!isKurrentDb) t.equal((await appendEitherWay(raw, 'Append', { stream, events: [] })).word, 'deleted')
    for (const form of [{ from: 'start' }, { from: 'end', backwards: true }, { from: 0n, count: 1 }] as const) {
      t.equal(await shown(raw, { stream, ...form }), 'deleted')
      t.equal(await shown(raw, { stream: `$$${stream}`, ...form }), 'deleted')
      t.equal(await shown(raw, { stream: `$$$$${stream}`, ...form }), 'deleted', 'the metastream of its metastream')
    }
  }
})

t.test('a tombstone is the last event of its stream in the log', async (t) => {
  const stream = freshName('log')
  const { position: before = 0n } = await append(stream, 1)
  const removed = await tombstoneStream(raw, stream, 0)
  const position = 'response' in removed ? removed.response.getPosition()?.getCommitPosition() : undefined
  const filter = { by: 'stream', prefixes: [stream] } as const
  const { messages } = await readMessages(raw, readRequest({ from: before, filter }))
  const event = messages[1]?.getEvent()?.getEvent()
  t.same(
    [event?.getStreamRevision(), event?.getMetadataMap().get('type'), event?.getCommitPosition(), messages.length],
    ['9223372036854775807', '$streamDeleted', position, 2],
  )
})
