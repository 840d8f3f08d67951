// Replies to repeated appends, for both calls.

import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { RawExpectation } from '../rawMessages.ts'
import { type AppendResponse, appendEitherWay, bothWays, type Way } from './appendEitherWay.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw } = await conformanceTarget(t)

/** Appends with alternating calls, so that each repeats appends of the other. A letter stands for an event id. */
function alternatingAppends(first: Way) {
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
  t.test(`${way} first: an event id belongs to the stream in which it occurred first`, async (t) => {
    const append = alternatingAppends(way)
    const [one, other] = [freshName('one'), freshName('other')]
    t.equal((await append(one, 'any', 'a')).word, 'revision 0')
    t.equal((await append(other, 'any', 'a')).word, 'revision 0', 'the id is not known in this stream')
    t.equal(
      (await append(other, 'any', 'a')).word,
      'revision 1',
      'the id is not known after it was written here either',
    )
    t.equal((await append(other, 'stream_exists', 'a')).word, 'revision 2')
    t.equal((await append(one, 'any', 'a')).word, 'revision 0', 'the id is known in its first stream')
    t.equal((await append(other, 'any', 'ba')).word, 'revision 4', 'the first id decides')
    t.equal((await append(other, 'any', 'ba')).word, 'wrong, at 4', 'b is known here and a is not')
  })

  t.test(`${way} first: an exact expected revision compares ids at that revision only`, async (t) => {
    const append = alternatingAppends(way)
    const [one, other] = [freshName('one'), freshName('other')]
    await append(one, 'no_stream', 'ab')
    t.equal((await append(other, 'no_stream', 'ab')).word, 'revision 1')
    t.equal(
      (await append(other, 'no_stream', 'ab')).word,
      'revision 1',
      'repeated, although the ids occurred first in another stream',
    )
    t.equal((await append(other, 0, 'b')).word, 'revision 1')
    t.equal((await append(other, 1, 'ab')).word, 'revision 3', 'known ids are written again at the end')
    t.equal((await append(other, 1, 'ab')).word, 'revision 3')
    t.equal((await append(other, 1, 'abc')).word, 'wrong, at 3', 'a repetition cannot exceed the end')
    t.equal((await append(other, 0, 'a')).word, 'wrong, at 3')
  })

  t.test(`${way} first: a repeated append gets the reply of the first, with its position`, async (t) => {
    const append = alternatingAppends(way)
    const stream = freshName('repeated')
    const first = await append(stream, 'no_stream', 'abc')
    await append(stream, 'any', 'd')
    for (const expected of ['no_stream', 'any', 'stream_exists'] as const) {
      t.same(await append(stream, expected, 'abc'), first, expected)
    }
    t.same(await append(stream, 0, 'bc'), first)
    t.same((await append(stream, 'any', 'ab')).word, 'revision 1', 'a repeated part')
    t.same((await append(stream, 'any', 'ba')).word, 'revision 0', 'the last id determines the revision')
  })

  t.test(`${way} first: a duplicate id in one append writes two events and is repeatable`, async (t) => {
    const append = alternatingAppends(way)
    const stream = freshName('twice')
    t.equal((await append(stream, 'any', 'aa')).word, 'revision 1')
    t.equal((await append(stream, 'any', 'aa')).word, 'revision 0')
    t.equal((await append(stream, 'no_stream', 'aa')).word, 'revision 1')
  })
}
