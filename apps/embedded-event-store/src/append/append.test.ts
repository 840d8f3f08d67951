// Expected revisions, idempotency, groups, and appends that must write nothing.
import { randomUUID } from 'node:crypto'
import { ANY, FORWARDS, NO_STREAM, START, WrongExpectedVersionError } from '@eventstore/db-client'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { batchAppend, batchRequest, type Chunk, connectRaw, wordFor } from '../testing/rawStreams.ts'
import { numbered, startServerHarness } from '../testing/serverHarness.ts'

const { node, client } = await startServerHarness(t)
const raw = connectRaw(t, node.port)

t.test('expected revisions and repeated appends have the same results as in EventStoreDB', async (t) => {
  const ids = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, randomUUID()]))
  const table: [NonNullable<Chunk['expected']>, string, string][] = [
    ['stream_exists', 'a', 'WrongExpectedVersion'],
    [0, 'a', 'WrongExpectedVersion'],
    ['no_stream', 'abc', 'revision 2'],
    ['no_stream', 'abc', 'revision 2'],
    ['no_stream', 'a', 'revision 0'],
    ['no_stream', 'b', 'WrongExpectedVersion'],
    ['no_stream', 'abcd', 'WrongExpectedVersion'],
    [0, 'bc', 'revision 2'],
    [0, 'bd', 'WrongExpectedVersion'],
    [5, 'd', 'WrongExpectedVersion'],
    ['any', 'b', 'revision 1'],
    ['any', 'ad', 'WrongExpectedVersion'],
    ['any', 'da', 'revision 4'],
    ['any', 'a', 'revision 0'],
    ['stream_exists', 'ab', 'revision 1'],
    [4, 'a', 'revision 5'],
    [5, 'e', 'revision 6'],
    ['any', 'ff', 'revision 8'],
    ['any', 'f', 'revision 7'],
    ['any', '', 'revision 8'],
    ['no_stream', '', 'WrongExpectedVersion'],
  ]
  for (const [expected, names, word] of table) {
    const events = [...names].map((name) => ({ id: ids[name] ?? '' }))
    const [reply] = await batchAppend(raw, [{ stream: 'table', expected, events }])
    t.equal(wordFor(reply), word, `${expected} [${names}]`)
  }
})

t.test('of concurrent appends that expect the same revision exactly one succeeds', async (t) => {
  const attempts = await Promise.allSettled(
    Array.from({ length: 40 }, () =>
      client.appendToStream('contested', numbered(0, 2), { expectedRevision: NO_STREAM }),
    ),
  )
  t.equal(attempts.filter((attempt) => attempt.status === 'fulfilled').length, 1)
  for (const attempt of attempts) {
    if (attempt.status === 'rejected') t.type(attempt.reason, WrongExpectedVersionError)
  }
  let events = 0
  for await (const _ of client.readStream('contested', { direction: FORWARDS, fromRevision: START })) events += 1
  t.equal(events, 2)
})

t.test(
  '64 concurrent writers: each append is recorded once, with contiguous revisions and increasing positions',
  async (t) => {
    const results = await Promise.all(
      Array.from({ length: 64 }, async (_, writer) => {
        const last = []
        for (let number = 0; number < 10; number += 1) {
          last.push(await client.appendToStream(`writer-${writer % 8}`, numbered(number, 3), { expectedRevision: ANY }))
        }
        return last
      }),
    )
    t.equal(new Set(results.flat().map((result) => result.position?.commit)).size, 640, 'every append has its position')
    const revisions = new Map<string, bigint[]>()
    let last = 0n
    for await (const { event } of client.readAll({ direction: FORWARDS, fromPosition: START })) {
      if (!event?.streamId.startsWith('writer-')) continue
      t.ok(event.position.commit > last)
      last = event.position.commit
      revisions.set(event.streamId, [...(revisions.get(event.streamId) ?? []), event.revision])
    }
    t.equal(revisions.size, 8)
    for (const found of revisions.values())
      t.same(
        found,
        Array.from({ length: 240 }, (_, revision) => BigInt(revision)),
      )
  },
)

t.test('an append in several chunks gets one reply with its id and stream', async (t) => {
  const correlationId = randomUUID()
  const [reply] = await batchAppend(raw, [
    { correlationId, stream: 'chunks', expected: 'no_stream', events: [{}, {}], final: false },
    { correlationId, events: [{}], final: false },
    { correlationId, events: [{}] },
  ])
  t.equal(wordFor(reply), 'revision 3')
  t.equal(reply?.getCorrelationId()?.getString(), correlationId)
  t.equal(Buffer.from(reply?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(), 'chunks')
})

t.test('chunks after an early reply are ignored, and the call continues', async (t) => {
  const correlationId = randomUUID()
  const replies = await batchAppend(
    raw,
    [
      { correlationId, stream: 'early', events: [{ id: 'not a uuid' }], final: false },
      { correlationId, events: [{}], final: false },
      { correlationId, events: [{}] },
      { stream: 'early', expected: 'no_stream', events: [{}] },
    ],
    2,
  )
  t.same(replies.map(wordFor), ['BadRequest', 'revision 0'])
})

t.test('an append past its deadline gets a timeout and is not written', async (t) => {
  const late = { stream: 'late', events: [{}], deadline: new Date(Date.now() - 1_000) }
  const unfinished = { stream: 'late', events: [{}], final: false, deadline: new Date(Date.now() + 50) }
  t.same((await batchAppend(raw, [late])).map(wordFor), ['Timeout'])
  const reply = await new Promise((resolve, reject) => {
    const call = raw.batchAppend()
    call.on('data', resolve).on('error', reject)
    call.write(batchRequest(unfinished))
  })
  t.ok(reply instanceof streams.BatchAppendResp && wordFor(reply) === 'Timeout')
  t.same((await batchAppend(raw, [{ stream: 'late', expected: 'no_stream', events: [{}] }])).map(wordFor), [
    'revision 0',
  ])
})

t.test('an append of 1 MiB is accepted, a larger one is rejected', async (t) => {
  const fits = await batchAppend(raw, [{ stream: 'large', events: [{ bytes: 1 << 20 }] }])
  const tooLarge = await batchAppend(raw, [{ stream: 'large', events: [{ bytes: 1 << 19 }, { bytes: (1 << 19) + 1 }] }])
  t.same([...fits, ...tooLarge].map(wordFor), ['revision 0', 'MaximumAppendSizeExceeded'])
})
