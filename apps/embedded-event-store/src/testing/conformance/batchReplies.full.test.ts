// The replies of BatchAppend, and when the call fails instead.

import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import t, { type Test } from 'tap'
import { openBatch } from '../batchSession.ts'
import { batchError, batchRequest, type Chunk, wordFor } from '../rawStreams.ts'
import { idsIn } from './readingBack.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client, isKurrentDb } = await conformanceTarget(t)

const session = (t: Test) => ({
  batch: openBatch(t, raw),
  idsIn: (stream: string) => idsIn(raw, stream),
})

const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID())
const eventsOf = (eventIds: readonly string[]) => eventIds.map((id) => ({ id }))

t.test('a reply has the correlation id in the format of the request', async (t) => {
  const { batch } = session(t)
  batch.send({
    correlationId: { high: 0x8badf00d_12344321n, low: 0x8000000000000001n },
    stream: freshName('ids'),
    events: [{}],
  })
  const [reply] = await batch.first(1)
  const halves = reply?.getCorrelationId()?.getStructured()
  const unsigned = (bits = '0') => BigInt.asUintN(64, BigInt(bits))
  t.equal(unsigned(halves?.getMostSignificantBits()), 0x8badf00d_12344321n)
  t.equal(unsigned(halves?.getLeastSignificantBits()), 0x8000000000000001n)
})

t.test('a bad request with a stream gets a BadRequest reply, and nothing is written', async (t) => {
  const { batch, idsIn } = session(t)
  const stream = freshName('bad')
  const noIdentifier = batchRequest({ stream, events: [{}] })
  noIdentifier.getOptions()?.clearStreamIdentifier()
  const noExpectation = batchRequest({ stream, events: [{}] })
  noExpectation.getOptions()?.clearAny()
  const requests = {
    'no type': batchRequest({ stream, events: [{}, { type: null }] }),
    'no content type': batchRequest({ stream, events: [{ contentType: null }] }),
    'an empty type': batchRequest({ stream, events: [{ type: '' }] }),
    'an invalid id': batchRequest({ stream, events: [{ id: 'not-a-uuid' }] }),
    'the nil id': batchRequest({ stream, events: [{ id: '00000000-0000-0000-0000-000000000000' }] }),
    'no name': batchRequest({ stream: '', events: [{}] }),
    'no stream identifier': noIdentifier,
    'no expectation': noExpectation,
    'a revision of 64 bits': batchRequest({ stream, expected: 1n << 63n, events: [{}] }),
    'an invalid correlation id': batchRequest({ correlationId: 'not-a-uuid', stream, events: [{}] }),
  }
  for (const [what, request] of Object.entries(requests)) {
    const before = batch.replies.length
    batch.sendAsIs(request)
    const reply = (await batch.first(before + 1))[before]
    const error = reply && batchError(reply)
    t.same([error?.code, error?.type], [3, 'event_store.client.BadRequest'], what)
    t.not(shared.BadRequest.deserializeBinary(error?.details ?? new Uint8Array()).getMessage(), '', what)
    t.equal(reply?.getCorrelationId()?.getString(), request.getCorrelationId()?.getString(), what)
    t.ok(reply?.hasStreamIdentifier() || what === 'no stream identifier', what)
  }
  t.same(await idsIn(stream), [])
})

t.test('a bad request without options fails the call', async (t) => {
  const correlationId = randomUUID()
  const started = { correlationId, stream: freshName('bad'), events: [{}], final: false }
  const cases: Record<string, Chunk[]> = {
    'an invalid correlation id': [{ correlationId: 'not-a-uuid', events: [{}] }],
    'a later chunk with a bad event': [started, { correlationId, events: [{ id: 'not-a-uuid' }] }],
    'a stream without a name, in chunks': [
      { ...started, stream: '' },
      { correlationId, events: [{}] },
    ],
  }
  for (const [what, chunks] of Object.entries(cases)) {
    const batch = openBatch(t, raw)
    batch.send(...chunks)
    t.same(await batch.failure(), { code: 'UNKNOWN', trailers: {} }, what)
  }
})

t.test('error replies have the details that clients decode', async (t) => {
  const { batch } = session(t)
  const stream = freshName('errors')
  await client.appendToStream(stream, jsonEvent({ type: 'T', data: {} }))
  const gone = freshName('gone')
  await client.tombstoneStream(gone)
  batch.send({ stream, expected: 4, events: [{}] }, { stream, expected: 'no_stream', events: [{}] })
  batch.send({ stream: freshName('never'), expected: 'stream_exists', events: [{}] })
  batch.send({ stream: gone, events: [{}] }, { stream, events: [{ bytes: (1 << 20) + 1 }] })
  const errors = (await batch.allSoFar()).map((reply) => ({
    reply,
    error: batchError(reply),
    message: reply.getError()?.getMessage(),
  }))
  const ofType = (type: string) => errors.filter(({ error }) => error?.type === `event_store.client.${type}`)
  const wrong = ofType('WrongExpectedVersion').map(({ error, message }) => {
    const details = shared.WrongExpectedVersion.deserializeBinary(error?.details ?? new Uint8Array())
    const current = details.hasCurrentNoStream() ? 'none' : details.getCurrentStreamRevision()
    const expected = details.hasExpectedStreamPosition()
      ? details.getExpectedStreamPosition()
      : details.getExpectedStreamPositionOptionCase()
    return [error?.code, message, current, expected]
  })
  const { ExpectedStreamPositionOptionCase } = shared.WrongExpectedVersion
  t.strictSame(wrong, [
    [6, 'WrongExpectedVersion', '0', '4'],
    [6, 'WrongExpectedVersion', '0', ExpectedStreamPositionOptionCase.EXPECTED_NO_STREAM],
    [6, 'WrongExpectedVersion', 'none', ExpectedStreamPositionOptionCase.EXPECTED_STREAM_EXISTS],
  ])
  const [deleted] = ofType('StreamDeleted')
  const named = shared.StreamDeleted.deserializeBinary(
    deleted?.error?.details ?? new Uint8Array(),
  ).getStreamIdentifier()
  t.same([deleted?.error?.code, Buffer.from(named?.getStreamName_asU8() ?? []).toString()], [5, gone])
  if (isKurrentDb) return
  const [tooLarge] = ofType('MaximumAppendSizeExceeded')
  const limit = shared.MaximumAppendSizeExceeded.deserializeBinary(tooLarge?.error?.details ?? new Uint8Array())
  t.same([tooLarge?.error?.code, limit.getMaxappendsize()], [3, 1 << 20])
})

t.test('known ids in descending order get no reply, and the call continues', async (t) => {
  const { batch } = session(t)
  const stream = freshName('descending')
  const eventIds = ids(3)
  batch.send({ stream, events: eventsOf(eventIds) })
  await batch.first(1)
  batch.send({ stream, events: eventsOf([...eventIds].reverse()) }, { stream, expected: 2, events: [{}] })
  t.same((await batch.allSoFar()).map(wordFor), ['revision 2', 'revision 3'])
})
