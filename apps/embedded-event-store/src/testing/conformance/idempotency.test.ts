// What a repeated append is answered with, by either call.

import { randomUUID } from 'node:crypto'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import type { RawExpectation } from '../rawMessages.ts'
import { type AppendResponse, appendEitherWay, bothWays, type Way } from './appendEitherWay.ts'
import { shown } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client } = await conformanceTarget(t)

/** Events by letters, the same letter being the same id; each way in turn is the one that repeats the other's append. */
function story(first: Way) {
  const ids = new Map<string, string>()
  const idOf = (letter: string) => {
    const id = ids.get(letter) ?? randomUUID()
    ids.set(letter, id)
    return { id }
  }
  let count = bothWays.indexOf(first)
  return (stream: string, expected: RawExpectation, letters: string): Promise<AppendResponse> => {
    const way = bothWays[count % bothWays.length] ?? first
    count += 1
    return appendEitherWay(raw, way, { stream, expected, events: [...letters].map(idOf) })
  }
}

for (const way of bothWays) {
  t.test(`${way} first: an id belongs to the stream that had it first`, async (t) => {
    const append = story(way)
    const [one, other] = [freshName('one'), freshName('other')]
    t.equal((await append(one, 'any', 'a')).word, 'revision 0')
    t.equal((await append(other, 'any', 'a')).word, 'revision 0', 'the id is not known in this stream')
    t.equal((await append(other, 'any', 'a')).word, 'revision 1', 'nor is it after it was written here')
    t.equal((await append(other, 'stream_exists', 'a')).word, 'revision 2')
    t.equal((await append(one, 'any', 'a')).word, 'revision 0', 'where it came first it is known')
    t.equal((await append(other, 'any', 'ba')).word, 'revision 4', 'the first id decides')
    t.equal((await append(other, 'any', 'ba')).word, 'wrong, at 4', 'b is known here and a is not')
  })

  t.test(`${way} first: an exact revision looks at nothing but what stands there`, async (t) => {
    const append = story(way)
    const [one, other] = [freshName('one'), freshName('other')]
    await append(one, 'no_stream', 'ab')
    t.equal((await append(other, 'no_stream', 'ab')).word, 'revision 1')
    t.equal(
      (await append(other, 'no_stream', 'ab')).word,
      'revision 1',
      'repeated, though the ids came first elsewhere',
    )
    t.equal((await append(other, 0, 'b')).word, 'revision 1')
    t.equal((await append(other, 1, 'ab')).word, 'revision 3', 'at the end known ids are written again')
    t.equal((await append(other, 1, 'ab')).word, 'revision 3')
    t.equal((await append(other, 1, 'abc')).word, 'wrong, at 3', 'a repetition does not go past the end')
    t.equal((await append(other, 0, 'a')).word, 'wrong, at 3')
  })

  t.test(`${way} first: a repeated append is answered like the first, with its position`, async (t) => {
    const append = story(way)
    const stream = freshName('repeated')
    const first = await append(stream, 'no_stream', 'abc')
    await append(stream, 'any', 'd')
    for (const expected of ['no_stream', 'any', 'stream_exists'] as const) {
      t.same(await append(stream, expected, 'abc'), first, expected)
    }
    t.same(await append(stream, 0, 'bc'), first)
    t.same((await append(stream, 'any', 'ab')).word, 'revision 1', 'a part of it is answered like that part')
    t.same((await append(stream, 'any', 'ba')).word, 'revision 0', 'the last id names the revision')
  })

  t.test(`${way} first: the same id twice in one append is two events, and one to repeat`, async (t) => {
    const append = story(way)
    const stream = freshName('twice')
    t.equal((await append(stream, 'any', 'aa')).word, 'revision 1')
    t.equal((await append(stream, 'any', 'aa')).word, 'revision 0')
    t.equal((await append(stream, 'no_stream', 'aa')).word, 'revision 1')
  })

  t.test(`${way} first: a repetition succeeds on a soft-deleted stream, without a position`, async (t) => {
    const append = story(way)
    const stream = freshName('deleted')
    await append(stream, 'any', 'ab')
    await client.deleteStream(stream)
    t.same(await append(stream, 'any', 'ab'), { word: 'revision 1' })
    t.same(await append(stream, 'no_stream', 'a'), { word: 'revision 0' })
    t.same(await append(stream, 0, 'b'), { word: 'revision 1' })
    t.same((await append(stream, 'stream_exists', 'ab')).word, 'deleted')
    t.same((await append(stream, 'any', 'ac')).word, 'wrong, at 1')
    t.equal((await append(stream, 'any', 'ca')).word, 'revision 3', 'and an unknown first id brings the stream back')
  })

  t.test(`${way} first: truncated events are known, without a position`, async (t) => {
    const append = story(way)
    const stream = freshName('truncated')
    const first = await append(stream, 'any', 'abc')
    await client.setStreamMetadata(stream, { truncateBefore: 2 })
    t.same(await append(stream, 'any', 'ab'), { word: 'revision 1' })
    t.same(await append(stream, 'no_stream', 'a'), { word: 'revision 0' })
    t.same(await append(stream, 'any', 'abc'), first)
  })

  t.test(`${way} first: so are events that have grown too old to be read`, async (t) => {
    const append = story(way)
    const stream = freshName('old')
    const first = await append(stream, 'any', 'ab')
    await client.setStreamMetadata(stream, { maxAge: 1 })
    const unread = async () => (await shown(raw, { stream, from: 'start' })).length === 0
    await waitFor(unread, { what: 'the events to grow too old' })
    t.same(await append(stream, 'any', 'ab'), { word: 'revision 1' })
    t.same(await append(stream, 'no_stream', 'a'), { word: 'revision 0' })
    await client.setStreamMetadata(stream, {})
    t.same(await append(stream, 'any', 'ab'), first)
  })
}
