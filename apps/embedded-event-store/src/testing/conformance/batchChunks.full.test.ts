// BatchAppend assembles chunks into appends, and replies to each append once.

import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import t, { type Test } from 'tap'
import { openBatch } from '../batchSession.ts'
import { type Chunk, wordFor } from '../rawStreams.ts'
import { idsIn } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client, isKurrentDb } = await conformanceTarget(t)

const session = (t: Test) => ({
  batch: openBatch(t, raw),
  idsIn: (stream: string) => idsIn(raw, stream),
})

const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID())
const eventsOf = (eventIds: readonly string[]) => eventIds.map((id) => ({ id }))
const streamOf = (reply: BatchAppendResp | undefined) =>
  Buffer.from(reply?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()

t.test('an append in chunks gets one reply after the last, with its correlation id and stream', async (t) => {
  const { batch, idsIn } = session(t)
  const correlationId = randomUUID()
  const stream = freshName('chunks')
  const [a = '', b = '', c = '', d = ''] = ids(4)
  batch.send(
    { correlationId, stream, expected: 'no_stream', events: eventsOf([a, b]), final: false },
    { correlationId, events: eventsOf([c]), final: false },
  )
  t.same(await batch.allSoFar(), [], 'no reply before the append is complete')
  t.same(await idsIn(stream), [])
  batch.send({ correlationId, events: eventsOf([d]) })
  const [, reply] = await batch.first(2)
  t.equal(wordFor(reply), 'revision 3')
  t.equal(reply?.getCorrelationId()?.getString(), correlationId)
  t.equal(streamOf(reply), stream)
  t.equal(reply?.getExpectedStreamPositionCase(), 0, 'the expected revision is not in the reply')
  t.same(await idsIn(stream), [a, b, c, d])
})

t.test('an append may end with an empty chunk, and may have a single chunk', async (t) => {
  const { batch, idsIn } = session(t)
  const correlationId = randomUUID()
  const stream = freshName('chunks')
  const eventIds = ids(2)
  batch.send(
    { correlationId, stream, events: eventsOf(eventIds), final: false },
    { correlationId, final: true },
    { stream, expected: 1, events: [] },
  )
  t.same((await batch.first(2)).map(wordFor), ['revision 1', 'revision 1'])
  t.same(await idsIn(stream), eventIds)
})

t.test('appends with interleaved chunks are separate', async (t) => {
  const { batch, idsIn } = session(t)
  const [one, other] = [freshName('one'), freshName('other')]
  const [oneCall, otherCall] = [randomUUID(), randomUUID()]
  const oneIds = ids(3)
  const otherIds = ids(2)
  batch.send(
    { correlationId: oneCall, stream: one, events: eventsOf(oneIds.slice(0, 1)), final: false },
    { correlationId: otherCall, stream: other, events: eventsOf(otherIds.slice(0, 1)), final: false },
    { correlationId: oneCall, events: eventsOf(oneIds.slice(1, 2)), final: false },
    { correlationId: otherCall, events: eventsOf(otherIds.slice(1)) },
  )
  const [first] = await batch.first(1)
  t.same([first?.getCorrelationId()?.getString(), streamOf(first), wordFor(first)], [otherCall, other, 'revision 1'])
  batch.send({ correlationId: oneCall, events: eventsOf(oneIds.slice(2)) })
  const [, second] = await batch.first(2)
  t.same([second?.getCorrelationId()?.getString(), streamOf(second), wordFor(second)], [oneCall, one, 'revision 2'])
  t.same([await idsIn(one), await idsIn(other)], [oneIds, otherIds])
})

const skip = isKurrentDb && 'the size limits of KurrentDB are configured'
t.test(
  'chunks after the reply to a too large append are ignored until its id starts a new one',
  { skip },
  async (t) => {
    const { batch, idsIn } = session(t)
    const correlationId = randomUUID()
    const stream = freshName('early')
    const half = { bytes: (1 << 19) + 1 }
    batch.send(
      { correlationId, stream, events: [half], final: false },
      { correlationId, events: [half], final: false },
      { correlationId, events: [{}], final: false },
      { correlationId, events: [{}] },
    )
    t.same((await batch.allSoFar()).map(wordFor), ['MaximumAppendSizeExceeded'])
    const [id = ''] = ids(1)
    batch.send({ correlationId, stream, expected: 'no_stream', events: [{ id }] })
    t.same((await batch.first(3)).slice(2).map(wordFor), ['revision 0'])
    t.same(await idsIn(stream), [id])
  },
)

t.test('a chunk of an append that never started is ignored', async (t) => {
  const { batch } = session(t)
  batch.send({ events: [{}] }, { events: [{ id: 'no uuid' }], final: false })
  t.same(await batch.allSoFar(), [])
})

t.test('only the options of the first chunk count', async (t) => {
  const { batch } = session(t)
  const correlationId = randomUUID()
  const stream = freshName('first')
  batch.send(
    { correlationId, stream, expected: 'no_stream', events: [{}], final: false },
    { correlationId, stream: freshName('second'), expected: 7, events: [{}] },
  )
  const [reply] = await batch.first(1)
  t.same([wordFor(reply), streamOf(reply)], ['revision 1', stream])
})

t.test('a late or unfinished append gets a timeout and is not written', async (t) => {
  const { batch, idsIn } = session(t)
  const stream = freshName('late')
  const inMs = (ms: number) => new Date(Date.now() + ms)
  const chunks: Chunk[] = [
    { stream, events: [{}], deadline: inMs(-1_000) },
    { stream, events: [{}], deadline: inMs(-1_000), final: false },
    { stream, events: [{}], deadline: inMs(300), final: false },
    // An unfinished append times out after 2 s, even if the client's deadline is later.
    { stream, events: [{}], deadline: inMs(60_000), final: false },
  ]
  const correlationIds = chunks.map(() => randomUUID())
  const startedMs = performance.now()
  for (const [index, chunk] of chunks.entries()) batch.send({ ...chunk, correlationId: correlationIds[index] ?? '' })
  t.same((await batch.first(2)).map(wordFor), ['Timeout', 'Timeout'])
  t.same((await batch.first(4)).map(wordFor), ['Timeout', 'Timeout', 'Timeout', 'Timeout'])
  t.ok(performance.now() - startedMs > 1_800)
  for (const correlationId of correlationIds) batch.send({ correlationId, events: [{}] })
  t.equal((await batch.allSoFar()).length, 4, 'chunks that come after a timeout are ignored')
  t.same(await idsIn(stream), [])
})

t.test('the client sends a large append in chunks and gets one reply', async (t) => {
  const { idsIn } = session(t)
  const stream = freshName('client')
  const events = Array.from({ length: 50 }, (_, number) =>
    jsonEvent({ type: 'T', data: { number, text: 'x'.repeat(500) } }),
  )
  const appends = await Promise.all([
    client.appendToStream(stream, events, { batchAppendSize: 2_000 }),
    client.appendToStream(freshName('client'), events, { batchAppendSize: 900 }),
  ])
  t.same(
    appends.map(({ success, nextExpectedRevision }) => [success, nextExpectedRevision]),
    [
      [true, 49n],
      [true, 49n],
    ],
  )
  t.same(
    await idsIn(stream),
    events.map(({ id }) => id),
  )
})
