// Streams that are deleted for writers but not for readers.
import t from 'tap'
import type { RawExpectation } from '../rawMessages.ts'
import { appendEitherWay, bothWays } from './appendEitherWay.ts'
import { lastMetadata, shown } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client } = await conformanceTarget(t)

const read = (stream: string) => shown(raw, { stream, from: 'start' })
const append = (stream: string, count: number) =>
  appendEitherWay(raw, 'BatchAppend', { stream, events: Array.from({ length: count }, () => ({})) })
const setMetadata = (stream: string, data: string, contentType = 'application/json') =>
  appendEitherWay(raw, 'BatchAppend', { stream: `$$${stream}`, events: [{ type: '$metadata', contentType, data }] })

for (const way of bothWays) {
  t.test(`${way}: deleting and restoring a metadata stream only affects its writers`, async (t) => {
    const table: [RawExpectation, string][] = [
      ['any', 'revision 1'],
      ['no_stream', 'revision 1'],
      [0, 'revision 1'],
      ['stream_exists', 'deleted'],
      [7, 'wrong, at 0'],
    ]
    for (const [expected, word] of table) {
      const stream = `$$${freshName('metadata')}`
      await append(stream, 1)
      await client.deleteStream(stream)
      t.same(await read(stream), ['0'])
      t.equal((await appendEitherWay(raw, way, { stream, expected, events: [{}] })).word, word, String(expected))
      const isBack = word === 'revision 1'
      t.same(await read(stream), [isBack ? '1' : '0'])
      t.equal(await lastMetadata(raw, stream), isBack ? '1: {"$tb":1}' : '0: {"$tb":9223372036854775807}')
    }
  })
}

t.test('metadata that restores a deleted metadata stream also restores its deleted stream', async (t) => {
  const stream = freshName('deleted')
  await append(stream, 3)
  await client.deleteStream(stream)
  await client.deleteStream(`$$${stream}`)
  t.equal((await setMetadata(stream, '{"owner":"x"}')).word, 'revision 1')
  t.equal(await lastMetadata(raw, `$$${stream}`), '1: {"$tb":1}')
  t.equal(await lastMetadata(raw, stream), '2: {"owner":"x","$tb":3}')
  t.same(await read(stream), [])
})

t.test('a deletion marker that is not JSON counts for writers, not for readers', async (t) => {
  const stream = freshName('no-json')
  await append(stream, 2)
  await setMetadata(stream, '{"$tb":9223372036854775807}', 'application/octet-stream')
  t.same(await read(stream), ['0', '1'])
  const exists = await appendEitherWay(raw, 'Append', { stream, expected: 'stream_exists', events: [{}] })
  t.equal(exists.word, 'deleted')
  t.equal((await append(stream, 1)).word, 'revision 2')
  t.same(await read(stream), ['2'])
  t.equal(await lastMetadata(raw, stream), '1: {"$tb":2}')
})

t.test('a stream deleted by large metadata keeps all of it when restored', async (t) => {
  const stream = freshName('large')
  const kept = 'x'.repeat(100_000)
  await append(stream, 1)
  await setMetadata(stream, `{"kept":"${kept}","$tb":9223372036854775807}`)
  t.same(await read(stream), ['not found'])
  t.equal((await append(stream, 1)).word, 'revision 1')
  t.equal(await lastMetadata(raw, stream), `1: {"kept":"${kept}","$tb":1}`)
  t.same(await read(stream), ['1'])
})
