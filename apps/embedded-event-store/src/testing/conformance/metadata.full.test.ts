// Stream metadata and metadata streams.

import { randomUUID } from 'node:crypto'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import type { RawExpectation } from '../rawMessages.ts'
import { readMessages, readRequest } from '../rawReads.ts'
import { appendEitherWay, bothWays, type Way } from './appendEitherWay.ts'
import { shown } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client } = await conformanceTarget(t)

async function append(stream: string, count: number, way: Way = 'BatchAppend') {
  return appendEitherWay(raw, way, { stream, events: Array.from({ length: count }, () => ({})) })
}

/** Metadata as text, which may be invalid. */
async function setMetadata(stream: string, text: string, way: Way = 'BatchAppend', contentType = 'application/json') {
  const event = { type: '$metadata', contentType, data: text }
  return appendEitherWay(raw, way, { stream: `$$${stream}`, events: [event] })
}

const read = (stream: string) => shown(raw, { stream, from: 'start' })
const readBackwards = (stream: string) => shown(raw, { stream, from: 'end', backwards: true })

async function metadataOf(stream: string): Promise<string | undefined> {
  const { messages } = await readMessages(
    raw,
    readRequest({ stream: `$$${stream}`, from: 'end', backwards: true, count: 1 }),
  )
  const event = messages[0]?.getEvent()?.getEvent()
  return event && Buffer.from(event.getData_asU8()).toString()
}

t.test('metadata numbers are valid within a signed 64-bit integer', async (t) => {
  const table: [string, readonly string[]][] = [
    ['{"$maxCount":9223372036854775807}', ['0', '1', '2']],
    ['{"$maxCount":9223372036854775808,"$tb":1}', ['0', '1', '2']],
    ['{"$tb":9223372036854775806}', []],
    ['{"$tb":9223372036854775807}', ['not found']],
    ['{"$tb":9223372036854775808,"$maxCount":1}', ['0', '1', '2']],
    ['{"$tb":-9223372036854775808,"$maxCount":1}', ['2']],
    ['{"$tb":-9223372036854775809,"$maxCount":1}', ['0', '1', '2']],
    ['{"$maxAge":922337203686,"$maxCount":1}', ['0', '1', '2']],
    ['{"$cacheControl":922337203686,"$maxCount":1}', ['0', '1', '2']],
    ['{"$tb":2.0}', ['0', '1', '2']],
    ['{"$tb":2e0}', ['0', '1', '2']],
    ['{"$tb":"2"}', ['0', '1', '2']],
    ['{"$tb":null}', ['0', '1', '2']],
  ]
  for (const [text, expected] of table) {
    const stream = freshName('numbers')
    await append(stream, 3)
    await setMetadata(stream, text)
    t.same(await read(stream), expected, text)
    t.equal(await metadataOf(stream), text)
  }
})

t.test('unused metadata fields of a wrong type invalidate the metadata', async (t) => {
  const table: [string, boolean][] = [
    ['"anything":{"at":[1,"all",null]}', true],
    ['"$tmp":true', true],
    ['"$tmp":"true"', false],
    ['"$cacheControl":3', true],
    ['"$cacheControl":"3"', false],
    ['"$acl":{"$r":"a","$w":["b","c"],"$d":[],"$mr":"x","$mw":"y"}', true],
    ['"$acl":{"$r":1}', false],
    ['"$acl":{"$w":["a",1]}', false],
    ['"$acl":{"unknown":"a"}', false],
    ['"$acl":null', false],
    ['"$acl":"admins"', false],
  ]
  for (const [rest, valid] of table) {
    const stream = freshName('rest')
    await append(stream, 3)
    await setMetadata(stream, `{"$maxCount":1,${rest}}`)
    t.same(await read(stream), valid ? ['2'] : ['0', '1', '2'], rest)
  }
})

t.test('metadata that is not a JSON object is ignored', async (t) => {
  for (const text of ['', '{', '[]', '1', '"$maxCount"', '{"$maxCount":1', 'null']) {
    const stream = freshName('broken')
    await append(stream, 3)
    await setMetadata(stream, '{"$maxCount":1}')
    t.same(await read(stream), ['2'])
    await setMetadata(stream, text)
    t.same(await read(stream), ['0', '1', '2'], text)
  }
})

t.test('the last JSON event of a metadata stream is the metadata, with any event type', async (t) => {
  const stream = freshName('type')
  await append(stream, 3)
  await appendEitherWay(raw, 'Append', {
    stream: `$$${stream}`,
    events: [
      { type: 'T', contentType: 'application/json', data: '{"$maxCount":2}' },
      { type: 'AnyType', contentType: 'application/json', data: '{"$maxCount":1}' },
    ],
  })
  t.same(await read(stream), ['2'], 'the last event of the metadata stream is the metadata')
  await setMetadata(stream, '{"$maxCount":2}', 'BatchAppend', 'application/octet-stream')
  t.same(await read(stream), ['0', '1', '2'], 'ignored when it is not marked as JSON')
})

t.test('$tb may be beyond the end of the stream', async (t) => {
  const stream = freshName('ahead')
  await append(stream, 1)
  await setMetadata(stream, '{"$tb":2}')
  t.same([await read(stream), await readBackwards(stream)], [[], []])
  t.equal((await append(stream, 1)).word, 'revision 1')
  t.same([await read(stream), await readBackwards(stream)], [[], []])
  t.equal((await append(stream, 2)).word, 'revision 3')
  t.same(
    [await read(stream), await readBackwards(stream)],
    [
      ['2', '3'],
      ['3', '2'],
    ],
  )
  await setMetadata(stream, '{"$tb":1,"$maxCount":2}')
  t.same(await read(stream), ['2', '3'], 'the higher of two bounds wins')
  await setMetadata(stream, '{"$tb":3,"$maxCount":2}')
  t.same(await read(stream), ['3'])
})

t.test('events expire one by one with $maxAge', async (t) => {
  const stream = freshName('age')
  await append(stream, 2)
  await setMetadata(stream, '{"$maxAge":5}')
  t.same(await read(stream), ['0', '1'])
  await waitFor(async () => (await read(stream)).length === 0, { what: 'the events to expire' })
  t.same(await readBackwards(stream), [])
  t.equal((await append(stream, 1)).word, 'revision 2')
  t.same([await read(stream), await readBackwards(stream)], [['2'], ['2']])
  t.same(await shown(raw, { stream, from: 0n, count: 1 }), ['2'], 'expired events do not count')
  await setMetadata(stream, '{}')
  t.same(await read(stream), ['0', '1', '2'])
})

t.test('a metadata stream shows its last event only, regardless of its own metadata', async (t) => {
  const stream = freshName('stream')
  for (const number of [0, 1, 2]) await setMetadata(stream, `{"n":${number}}`)
  for (const text of ['{"$maxCount":5}', '{"$tb":3}', '{"$tb":9223372036854775807}', 'nonsense']) {
    await setMetadata(`$$${stream}`, text)
    t.same([await read(`$$${stream}`), await readBackwards(`$$${stream}`)], [['2'], ['2']], text)
  }
  t.same(await read(`$$$$${stream}`), ['3'], 'the metadata of a metadata stream is in its own metastream')
  t.same(await shown(raw, { stream: `$$${stream}`, from: 1n, backwards: true }), [])
  t.same(await read(stream), ['not found'])
  t.equal((await appendEitherWay(raw, 'Append', { stream, expected: 'no_stream', events: [{}] })).word, 'revision 0')
})

t.test('a deleted metadata stream stays readable', async (t) => {
  const stream = freshName('stream')
  await append(stream, 2)
  await setMetadata(stream, '{"$maxCount":1}')
  await client.deleteStream(`$$${stream}`)
  t.same([await read(`$$${stream}`), await read(stream)], [['0'], ['1']])
  t.equal((await setMetadata(stream, '{}')).word, 'revision 1')
  t.same(await read(stream), ['0', '1'])
})

for (const way of bothWays) {
  t.test(`${way}: metadata streams check expected revisions like other streams`, async (t) => {
    const stream = freshName('revisions')
    const id = randomUUID()
    const event = { type: '$metadata', contentType: 'application/json', data: '{"$maxCount":1}' }
    const set = (expected: RawExpectation, eventId = randomUUID()) =>
      appendEitherWay(raw, way, { stream: `$$${stream}`, expected, events: [{ ...event, id: eventId }] })
    t.equal((await set('stream_exists')).word, 'wrong, at none')
    t.equal((await set(0)).word, 'wrong, at none')
    t.equal((await set('no_stream', id)).word, 'revision 0')
    t.equal((await set('no_stream', id)).word, 'revision 0', 'a repetition')
    t.equal((await set('no_stream')).word, 'wrong, at 0')
    t.equal((await set(0)).word, 'revision 1')
    t.equal((await set('stream_exists')).word, 'revision 2')
    t.equal((await set(1)).word, 'wrong, at 2')
    const exists = await appendEitherWay(raw, way, { stream, expected: 'stream_exists', events: [{}] })
    t.equal(exists.word, 'revision 0', 'a stream that has only metadata exists')
  })
}

t.test('the client sets and gets metadata', async (t) => {
  const stream = freshName('client')
  t.equal((await client.getStreamMetadata(stream)).metadata, undefined)
  const metadata = { maxCount: 3, maxAge: 60, truncateBefore: 1, cacheControl: 5, acl: { readRoles: ['a'] }, own: 'x' }
  await client.setStreamMetadata(stream, metadata)
  t.match((await client.getStreamMetadata(stream)).metadata, { maxCount: 3, maxAge: 60, truncateBefore: 1, own: 'x' })
  await append(stream, 5)
  t.same(await read(stream), ['2', '3', '4'])
})
