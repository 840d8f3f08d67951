// Invalid requests get a status and do not affect other clients.
import { gzipSync } from 'node:zlib'
import { jsonEvent } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { streamIdentifier } from './protocol/identifiers.ts'
import { callWithBytes, connectBare, frame, methods, post } from './testing/rawBytes.ts'
import { unaryMessage } from './testing/rawMessages.ts'
import { readRequest } from './testing/rawReads.ts'
import { batchAppend, batchRequest, type Chunk, connectRaw, wordFor } from './testing/rawStreams.ts'
import { startServerProcess } from './testing/serverProcess.ts'

const streamMethods = [methods.read, methods.append, methods.batchAppend, methods.delete, methods.tombstone]
const fuzzedCalls = 800
const callsAtOnce = 25

const bytesOf = (message: { serializeBinary(): Uint8Array }): Buffer => Buffer.from(message.serializeBinary())

const node = await startServerProcess(t)
const client = connectBare(t, node.port)
const raw = connectRaw(t, node.port)

async function stillServes(t: Test): Promise<void> {
  const { nextExpectedRevision } = await node.client.appendToStream('others', jsonEvent({ type: 'T', data: {} }))
  const read = node.client.readStream('others', { fromRevision: nextExpectedRevision })
  const revisions: (bigint | undefined)[] = []
  for await (const { event } of read) revisions.push(event?.revision)
  t.same(revisions, [nextExpectedRevision])
  t.same(node.warnings(), [], 'nothing was logged')
}

t.test('malformed messages end their call with INTERNAL at once', async (t) => {
  const broken = {
    garbage: 'ffffffffffffffffffffff',
    'a truncated field': '0a80',
    'a truncated message': '0a0a0102',
    'a number for a message': '0805',
    'groups without end': '0b'.repeat(100_000),
    'field 0': '0000',
    'a length of 2 GiB': '0affffffff07',
    'a negative length': '0affffffffffffffffff01',
    'a million empty messages': '1a00'.repeat(1_000_000),
  }
  for (const path of streamMethods) {
    for (const [what, hex] of Object.entries(broken)) {
      t.equal(await callWithBytes(client, path, [Buffer.from(hex, 'hex')]), 'INTERNAL', `${path}: ${what}`)
    }
  }
  t.equal(await callWithBytes(client, methods.gossip, [Buffer.from(broken.garbage, 'hex')]), 'INTERNAL')
  t.equal(await callWithBytes(client, methods.supportedMethods, [Buffer.from(broken.garbage, 'hex')]), 'INTERNAL')
  t.equal(await callWithBytes(client, methods.batchAppend, [Buffer.alloc(18 << 20)]), 'RESOURCE_EXHAUSTED')
  await stillServes(t)
})

t.test('invalid gRPC calls get a status', async (t) => {
  const read = bytesOf(readRequest({ from: 'start', count: 1 }))
  const gzip = { 'grpc-encoding': 'gzip' }
  const grpcOf = async (body: Buffer, headers = {}) => (await post(node.port, methods.read, body, headers)).grpc
  t.equal(await grpcOf(frame(gzipSync(read), { flag: 1 }), gzip), 'OK', 'compressed')
  t.equal(await grpcOf(frame(read, { flag: 1 }), gzip), 'INTERNAL', 'not compressed')
  t.equal(await grpcOf(frame(gzipSync(read).subarray(0, 15), { flag: 1 }), gzip), 'INTERNAL', 'truncated')
  t.equal(await grpcOf(frame(read, { flag: 1 }), { 'grpc-encoding': 'br' }), 'UNIMPLEMENTED', 'unknown compression')
  const bomb = gzipSync(Buffer.alloc(100 << 20))
  t.equal(await grpcOf(frame(bomb, { flag: 1 }), gzip), 'RESOURCE_EXHAUSTED', '100 MiB once decompressed')
  t.equal(await grpcOf(frame(read, { length: 0xffffffff })), 'RESOURCE_EXHAUSTED', 'a frame of 4 GiB')
  t.equal(await grpcOf(frame(read, { length: read.length + 9 })), 'UNIMPLEMENTED', 'a truncated frame')
  t.equal(await grpcOf(Buffer.alloc(0)), 'UNIMPLEMENTED', 'no message')
  t.equal(await grpcOf(Buffer.concat([frame(read), frame(read)])), 'UNIMPLEMENTED', 'two messages')
  t.equal(await grpcOf(frame(read), { 'grpc-timeout': 'soon' }), 'INTERNAL', 'an invalid timeout')
  const json = await post(node.port, methods.read, frame(read), { 'content-type': 'application/json' })
  t.equal(json.http, 415)
  for (const path of ['/nothing', '/event_store.client.streams.Streams/Nothing']) {
    t.equal(await callWithBytes(client, path, [Buffer.alloc(0)]), 'UNIMPLEMENTED', path)
  }
  await stillServes(t)
})

/** A read of everything, changed. */
function readWith(change: (options: ReadReq.Options) => unknown): Buffer {
  const request = readRequest({ from: 'start', count: 5 })
  change(request.getOptions() ?? new streams.ReadReq.Options())
  return bytesOf(request)
}

/** Direction 7, which the library would not write. */
function unknownDirection(): Buffer {
  const options = readRequest({ from: 'start', count: 5 }).getOptions()?.serializeBinary() ?? new Uint8Array()
  const changed = Buffer.concat([options, Buffer.from('1807', 'hex')])
  return Buffer.concat([Buffer.of(0x0a, changed.length), changed])
}

t.test('nonsensical reads get a status', async (t) => {
  await node.client.appendToStream('s', jsonEvent({ type: 'T', data: {} }))
  const read = (form: Parameters<typeof readRequest>[0]) => bytesOf(readRequest(form))
  const by = 'stream' as const
  const cases: [string, string, Buffer][] = [
    ['no options', 'UNKNOWN', bytesOf(new streams.ReadReq())],
    ['neither a stream nor all', 'INVALID_ARGUMENT', readWith((options) => options.clearAll())],
    ['no form of ids', 'INVALID_ARGUMENT', readWith((options) => options.clearUuidOption())],
    ['neither a filter nor none', 'INVALID_ARGUMENT', readWith((options) => options.clearNoFilter())],
    ['no count', 'INVALID_ARGUMENT', readWith((options) => options.clearCount())],
    ['a count of 0', 'UNKNOWN', readWith((options) => options.setCount('0'))],
    ['a count of 2^64-1', 'OK', readWith((options) => options.setCount('18446744073709551615'))],
    ['nowhere to begin', 'OK', readWith((options) => options.setAll(new streams.ReadReq.Options.AllOptions()))],
    ['a position of 2^63', 'UNKNOWN', read({ from: 1n << 63n })],
    ['a revision of 2^63', 'UNKNOWN', read({ stream: 's', from: 1n << 63n })],
    ['a revision of 2^63-1', 'OK', read({ stream: 's', from: (1n << 63n) - 1n })],
    ['an empty name', 'UNKNOWN', read({ stream: '', from: 'start' })],
    ['NUL in a name', 'UNKNOWN', read({ stream: 'a\0b', from: 'start' })],
    ['a lone surrogate in a name', 'OK', read({ stream: 'a\ud800', from: 'start' })],
    ['a name of 2,001 bytes', 'UNKNOWN', read({ stream: 'x'.repeat(2_001), from: 'start' })],
    ['a name of 2,000 bytes', 'OK', read({ stream: 'x'.repeat(2_000), from: 'start' })],
    ['names of the system', 'OK', read({ stream: '$$$$s', from: 'start' })],
    ['a broken pattern', 'UNKNOWN', read({ from: 'start', filter: { by, regex: '(' } })],
    [
      'a pattern of a megabyte',
      'INVALID_ARGUMENT',
      read({ from: 'start', filter: { by, regex: 'x'.repeat(1 << 20) } }),
    ],
    ['a window of 0', 'INVALID_ARGUMENT', read({ from: 'start', filter: { by, prefixes: ['a'], window: 0 } })],
    ['an interval of 0', 'UNKNOWN', read({ from: 'start', count: null, filter: { by, prefixes: ['a'], interval: 0 } })],
    [
      '100,000 prefixes',
      'OK',
      read({ from: 'start', filter: { by, prefixes: Array.from({ length: 100_000 }, String) } }),
    ],
    ['an unknown direction', 'INVALID_ARGUMENT', unknownDirection()],
  ]
  for (const [what, code, bytes] of cases) t.equal(await callWithBytes(client, methods.read, [bytes]), code, what)
  await stillServes(t)
})

t.test('a regular expression that backtracks for ever does not block the server', async (t) => {
  await node.client.appendToStream(`${'a'.repeat(1_000)}!`, jsonEvent({ type: 'T', data: {} }))
  const search = (regex: string) => {
    const filter = { by: 'stream', regex, window: 10 } as const
    return callWithBytes(client, methods.read, [bytesOf(readRequest({ from: 'start', filter }))])
  }
  t.equal(await search('^(a+)+$'), 'OK')
  t.equal(await search('^(?=(a+)+$)'), 'UNKNOWN')
  await stillServes(t)
})

t.test('nonsensical appends get a status, and unusual names are accepted', async (t) => {
  const bad = 'BadRequest'
  const cases: [string, string, Chunk][] = [
    ['no id', bad, { stream: 's', events: [{ id: '' }] }],
    ['an invalid id', bad, { stream: 's', events: [{ id: 'not-an-id' }] }],
    ['the nil id', bad, { stream: 's', events: [{ id: '00000000-0000-0000-0000-000000000000' }] }],
    ['no type', bad, { stream: 's', events: [{ type: null }] }],
    ['an empty type', bad, { stream: 's', events: [{ type: '' }] }],
    ['NUL in a type', bad, { stream: 's', events: [{ type: 'a\0b' }] }],
    ['a type of 5,000 bytes', bad, { stream: 's', events: [{ type: 'x'.repeat(5_000) }] }],
    ['no content type', bad, { stream: 's', events: [{ contentType: null }] }],
    ['an empty name', bad, { stream: '', events: [{}] }],
    ['NUL in a name', bad, { stream: 'a\0b', events: [{}] }],
    ['a name of 2,001 bytes', bad, { stream: 'x'.repeat(2_001), events: [{}] }],
    ['a name of 2,000 bytes', 'revision 0', { stream: 'x'.repeat(2_000), events: [{}] }],
    ['a lone surrogate in a name', 'revision 0', { stream: 'a\ud800', events: [{}] }],
    ['a lone surrogate in a type', 'revision 0', { stream: 'surrogate', events: [{ type: 'a\ud800' }] }],
    ['a name of the system', 'revision 0', { stream: '$s', events: [{}] }],
    ['the metadata of nothing', 'revision 0', { stream: '$$nothing', events: [{}] }],
    ['the metadata of metadata', 'revision 0', { stream: '$$$$nothing', events: [{}] }],
  ]
  for (const [what, response, chunk] of cases) {
    const [reply] = await batchAppend(raw, [chunk])
    t.equal(wordFor(reply), response, what)
  }
  await stillServes(t)
})

/** One valid request per method, as seeds for fuzzing. */
function samples(): { readonly path: string; readonly bytes: Buffer }[] {
  const batch = batchRequest({ stream: 'f', events: [{ metadata: '{}' }, { id: { high: 1n, low: 2n } }] })
  const append = new streams.AppendReq.Options().setStreamIdentifier(streamIdentifier('f')).setAny(new shared.Empty())
  const remove = new streams.DeleteReq.Options().setStreamIdentifier(streamIdentifier('f')).setAny(new shared.Empty())
  const filter = { by: 'type', prefixes: ['a'], regex: '^T', window: 3 } as const
  return [
    { path: methods.read, bytes: bytesOf(readRequest({ stream: 'f', from: 1n, compatibility: 1 })) },
    { path: methods.read, bytes: bytesOf(readRequest({ from: 3n, count: null, filter })) },
    { path: methods.append, bytes: bytesOf(new streams.AppendReq().setOptions(append)) },
    { path: methods.append, bytes: bytesOf(new streams.AppendReq().setProposedMessage(unaryMessage({}))) },
    { path: methods.batchAppend, bytes: bytesOf(batch) },
    { path: methods.delete, bytes: bytesOf(new streams.DeleteReq().setOptions(remove)) },
    { path: methods.tombstone, bytes: bytesOf(new streams.DeleteReq().setOptions(remove)) },
    { path: methods.supportedMethods, bytes: Buffer.alloc(0) },
    { path: methods.gossip, bytes: Buffer.alloc(0) },
  ]
}

/** Some bytes replaced, inserted or cut out, a few times over. */
const mutated = (bytes: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.tuple(fc.nat(), fc.nat({ max: 4 }), fc.uint8Array({ maxLength: 6 })), { minLength: 1, maxLength: 4 })
    .map((changes) => {
      let changed = bytes
      for (const [where, cut, put] of changes) {
        const at = where % (changed.length + 1)
        changed = Buffer.concat([changed.subarray(0, at), put, changed.subarray(at + cut)])
      }
      return changed
    })

t.test('the server survives fuzzed requests to all methods', async (t) => {
  await stillServes(t)
  const call = fc
    .constantFrom(...samples())
    .chain(({ path, bytes }) =>
      fc.record({ path: fc.constant(path), messages: fc.array(mutated(bytes), { minLength: 1, maxLength: 3 }) }),
    )
  const calls = fc.sample(call, { seed: 4, numRuns: fuzzedCalls })
  const before = await node.residentMegabytes()
  const codes = new Set<string>()
  for (let from = 0; from < calls.length; from += callsAtOnce) {
    const group = calls.slice(from, from + callsAtOnce)
    // A subscription in the group ends only at its deadline.
    const responses = group.map(({ path, messages }) => callWithBytes(client, path, messages, 500))
    for (const code of await Promise.all(responses)) codes.add(code)
  }
  t.ok(codes.has('INTERNAL') && codes.has('OK'), [...codes].join(', '))
  t.notOk(codes.has('UNAVAILABLE'), 'no call lost its connection')
  const grown = (await node.residentMegabytes()) - before
  t.ok(grown < 150, `${Math.round(grown)} MB`)
  await stillServes(t)
})
