// Rules of both append calls, and the statuses of Append.

import { randomUUID } from 'node:crypto'
import { ANY, binaryEvent, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type AppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { streamIdentifier } from '../../protocol/identifiers.ts'
import { sendAppend, unaryAppend } from '../rawCalls.ts'
import { type RawEvent, type RawExpectation, unaryMessage } from '../rawMessages.ts'
import { readMessages, readRequest } from '../rawReads.ts'
import { appendEitherWay, bothWays } from './appendEitherWay.ts'
import { conformanceTarget, freshName } from './target.ts'

const { raw, client, isKurrentDb } = await conformanceTarget(t)
const maxAppendBytes = 1 << 20

async function recordedIn(stream: string, ids: 'string' | 'structured' = 'string') {
  const { messages } = await readMessages(raw, readRequest({ stream, from: 'start', ids }))
  return messages.flatMap((message) => message.getEvent()?.getEvent() ?? [])
}

for (const way of bothWays) {
  t.test(`${way}: an event id has the same meaning in every format`, async (t) => {
    const stream = freshName('ids')
    const id = randomUUID()
    const hex = id.replaceAll('-', '')
    const halves = { high: BigInt(`0x${hex.slice(0, 16)}`), low: BigInt(`0x${hex.slice(16)}`) }
    const forms = [id, id.toUpperCase(), hex, `{${id}}`, `(${id})`, ` ${id} `, halves]
    for (const form of forms) {
      t.equal((await appendEitherWay(raw, way, { stream, events: [{ id: form }] })).word, 'revision 0', String(form))
    }
    const [asText] = await recordedIn(stream)
    t.equal(asText?.getId()?.getString(), id)
    const [asHalves] = await recordedIn(stream, 'structured')
    t.equal(BigInt.asUintN(64, BigInt(asHalves?.getId()?.getStructured()?.getMostSignificantBits() ?? 0)), halves.high)
    t.equal(BigInt.asUintN(64, BigInt(asHalves?.getId()?.getStructured()?.getLeastSignificantBits() ?? 0)), halves.low)
  })

  t.test(`${way}: only data counts towards the maximum append size`, async (t) => {
    const stream = freshName('size')
    const large = { type: 'T'.repeat(1_000), metadata: Buffer.alloc(300_000, 'm') }
    const table: [string, RawEvent[]][] = [
      ['revision 0', [{ ...large, bytes: maxAppendBytes }]],
      ['too large', [{ bytes: maxAppendBytes + 1 }]],
      ['revision 2', [{ bytes: maxAppendBytes - 7 }, { ...large, bytes: 7 }]],
      ['too large', [{ bytes: maxAppendBytes - 7 }, { bytes: 8 }]],
      ['revision 3', [{ bytes: 0 }]],
    ]
    for (const [word, events] of table) {
      if (word === 'too large' && isKurrentDb) continue
      t.equal((await appendEitherWay(raw, way, { stream, events })).word, word, `${events.map((event) => event.bytes)}`)
    }
  })

  t.test(`${way}: data and metadata are read back byte for byte`, async (t) => {
    const stream = freshName('bytes')
    const binary = Buffer.from([0, 255, 10, 128, 13])
    const events: Required<Omit<RawEvent, 'bytes' | 'id'>>[] = [
      { type: 'Ä type, with 😀', contentType: 'application/json', data: '{ "a" : 1.0 }', metadata: '{"m":1}' },
      { type: 'T', contentType: 'application/json', data: 'no JSON at all', metadata: binary },
      { type: '$>', contentType: 'application/octet-stream', data: binary, metadata: '' },
      { type: 'T', contentType: 'application/json; charset=utf-8', data: '', metadata: '' },
    ]
    t.equal((await appendEitherWay(raw, way, { stream, events })).word, 'revision 3')
    const read = (await recordedIn(stream)).map((event) => ({
      type: event.getMetadataMap().get('type'),
      contentType: event.getMetadataMap().get('content-type'),
      data: Buffer.from(event.getData_asU8()),
      metadata: Buffer.from(event.getCustomMetadata_asU8()),
    }))
    const isJson = (contentType: string | null) => contentType === 'application/json'
    const expected = events.map(({ type, contentType, data, metadata }) => ({
      type,
      contentType: isJson(contentType) ? 'application/json' : 'application/octet-stream',
      data: Buffer.from(data),
      metadata: Buffer.from(metadata),
    }))
    t.same(read, expected)
  })

  t.test(`${way}: the smallest and largest expected revisions are handled like in EventStoreDB`, async (t) => {
    const stream = freshName('revisions')
    const bad = way === 'Append' ? 'UNKNOWN' : 'BadRequest'
    const table: [RawExpectation, string][] = [
      // The largest number is EventStoreDB's own "no stream".
      [(1n << 64n) - 1n, 'revision 0'],
      [(1n << 64n) - 1n, 'wrong, at 0'],
      [1n << 63n, bad],
      [(1n << 64n) - 2n, bad],
      [(1n << 63n) - 1n, 'wrong, at 0'],
      [0, 'revision 1'],
    ]
    for (const [expected, word] of table) {
      t.equal((await appendEitherWay(raw, way, { stream, expected, events: [{}] })).word, word, String(expected))
    }
  })

  t.test(`${way}: an append with an invalid event writes nothing`, async (t) => {
    const stream = freshName('all-or-nothing')
    for (const bad of [{ id: 'not-a-uuid' }, { type: '' }, ...(isKurrentDb ? [] : [{ bytes: maxAppendBytes + 1 }])]) {
      t.not((await appendEitherWay(raw, way, { stream, events: [{}, bad, {}] })).word, 'revision 2')
    }
    t.equal((await appendEitherWay(raw, way, { stream, expected: 'no_stream', events: [{}] })).word, 'revision 0')
  })

  t.test(`${way}: stream names may contain anything but must not be empty`, async (t) => {
    for (const stream of [freshName('äöü 😀/\\"'), freshName('$system'), freshName('line\nbreak'), freshName(' ')]) {
      t.equal((await appendEitherWay(raw, way, { stream, expected: 'no_stream', events: [{}] })).word, 'revision 0')
      const [event] = await recordedIn(stream)
      t.equal(Buffer.from(event?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(), stream)
    }
  })

  t.test(`${way}: a reply has the position of the last event written`, async (t) => {
    const stream = freshName('positions')
    const { position } = await appendEitherWay(raw, way, { stream, events: [{}, {}, {}] })
    const events = await recordedIn(stream)
    t.equal(events[2]?.getCommitPosition(), String(position))
    t.equal(events[2]?.getPreparePosition(), String(position))
    const positions = events.map((event) => BigInt(event.getCommitPosition()))
    t.ok((positions[0] ?? 0n) > 0n)
    t.ok((positions[0] ?? 0n) < (positions[1] ?? 0n) && (positions[1] ?? 0n) < (positions[2] ?? 0n))
    t.equal((await appendEitherWay(raw, way, { stream, expected: 'stream_exists', events: [] })).word, 'revision 2')
  })
}

t.test('Append has a different status for each kind of bad request', async (t) => {
  const stream = freshName('bad')
  const options = (change: (options: AppendReq.Options) => unknown) => {
    const valid = new streams.AppendReq.Options()
      .setAny(new shared.Empty())
      .setStreamIdentifier(streamIdentifier(stream))
    change(valid)
    return new streams.AppendReq().setOptions(valid)
  }
  const started = options(() => undefined)
  const event = (spec: RawEvent) => new streams.AppendReq().setProposedMessage(unaryMessage(spec))
  const missing = {
    code: 'INVALID_ARGUMENT',
    trailers: { exception: 'missing-required-metadata-property', 'required-metadata-properties': 'type,content-type' },
  }
  const tooLarge = {
    code: 'INVALID_ARGUMENT',
    trailers: { exception: 'maximum-append-size-exceeded', 'maximum-append-size': String(maxAppendBytes) },
  }
  const unknown = { code: 'UNKNOWN', trailers: {} }
  const table: [string, AppendReq[], object][] = [
    ['nothing', [], unknown],
    ['an event before the options', [event({}), started], unknown],
    ['options twice', [started, started, event({})], unknown],
    ['a message with neither', [started, new streams.AppendReq()], unknown],
    ['no expectation', [options((each) => each.clearAny())], { code: 'INVALID_ARGUMENT', trailers: {} }],
    ['no stream identifier', [options((each) => each.clearStreamIdentifier())], unknown],
    ['no name', [options((each) => each.setStreamIdentifier(streamIdentifier('')))], unknown],
    ['no type', [started, event({ type: null })], missing],
    ['no content type', [started, event({ contentType: null })], missing],
    ['no type, too large', [started, event({ type: null, bytes: maxAppendBytes + 1 })], missing],
    ['too large, and an invalid id', [started, event({ id: 'none', bytes: maxAppendBytes + 1 })], tooLarge],
    ['an invalid id', [started, event({ id: 'none' })], unknown],
    ['an empty type', [started, event({ type: '' })], unknown],
  ]
  for (const [what, requests, failed] of table) {
    if (failed === tooLarge && isKurrentDb) continue
    t.same(await sendAppend(raw, requests), { failed }, what)
  }
  t.same(await recordedIn(stream), [])
})

t.test("Append's reply to a wrong expected revision has the expected and the current revision", async (t) => {
  const stream = freshName('wrong')
  const wrongFor = async (expected: RawExpectation) => {
    const result = await unaryAppend(raw, { stream, expected, events: [{}] })
    return 'response' in result ? result.response.getWrongExpectedVersion() : undefined
  }
  t.ok((await wrongFor('stream_exists'))?.hasExpectedStreamExists())
  t.ok((await wrongFor('stream_exists'))?.hasCurrentNoStream())
  await unaryAppend(raw, { stream, events: [{}, {}] })
  t.ok((await wrongFor('no_stream'))?.hasExpectedNoStream())
  t.equal((await wrongFor(5))?.getExpectedRevision(), '5')
  t.equal((await wrongFor(5))?.getCurrentRevision(), '1')
})

t.test('the client appends with credentials through Append, with the same results', async (t) => {
  const stream = freshName('credentials')
  const credentials = { username: 'admin', password: 'changeit' }
  const events = [jsonEvent({ type: 'T', data: { a: 1 } }), binaryEvent({ type: 'T', data: Buffer.from([1, 2]) })]
  const appended = await client.appendToStream(stream, events, { expectedRevision: NO_STREAM, credentials })
  t.equal(appended.nextExpectedRevision, 1n)
  const repeated = await client.appendToStream(stream, events, { expectedRevision: NO_STREAM })
  t.same([repeated.nextExpectedRevision, repeated.position], [1n, appended.position])
  const wrong = client.appendToStream(stream, jsonEvent({ type: 'T', data: {} }), { expectedRevision: 7n, credentials })
  t.match(await wrong.catch((error: unknown) => error), { type: 'wrong-expected-version', expectedVersion: 7n })
  t.equal((await client.appendToStream(stream, [], { expectedRevision: ANY, credentials })).nextExpectedRevision, 1n)
})

t.test('Append of known ids in descending order gets no reply until its deadline', async (t) => {
  const stream = freshName('descending')
  const events = Array.from({ length: 3 }, () => ({ id: randomUUID() }))
  await unaryAppend(raw, { stream, events })
  const options = new streams.AppendReq.Options()
    .setAny(new shared.Empty())
    .setStreamIdentifier(streamIdentifier(stream))
  const requests = [...events].reverse().map((event) => new streams.AppendReq().setProposedMessage(unaryMessage(event)))
  const result = await sendAppend(raw, [new streams.AppendReq().setOptions(options), ...requests], 3_000)
  t.same(result, { failed: { code: 'DEADLINE_EXCEEDED', trailers: {} } })
  t.equal((await recordedIn(stream)).length, 3)
})
