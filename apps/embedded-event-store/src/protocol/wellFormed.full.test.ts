// Which messages reach the protobuf library, and how long it takes to decode them.
import streams from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { readRequest } from '../testing/rawReads.ts'
import { batchRequest } from '../testing/rawStreams.ts'
import { isWellFormed, shapes } from './wellFormed.ts'

/** A length of 2 GiB, as a varint. */
const absurdLength = Buffer.from('ffffffff07', 'hex')
const maxDecodeMs = 1_000

const requests = {
  read: readRequest({
    stream: 's',
    from: 3n,
    filter: { by: 'type', regex: 'x', prefixes: ['a', 'b'], window: 7 },
    compatibility: 1,
    ids: 'structured',
  }),
  all: readRequest({ from: 3n, count: null, filter: { by: 'stream', prefixes: ['a'] } }),
  batchAppend: batchRequest({
    stream: 's',
    expected: 2,
    correlationId: { high: 1n, low: 2n },
    events: [{ id: { high: 3n, low: 4n }, metadata: '{}' }, {}],
  }),
}

t.test('isWellFormed accepts requests of real clients', async (t) => {
  t.ok(isWellFormed(requests.read.serializeBinary(), shapes.read))
  t.ok(isWellFormed(requests.all.serializeBinary(), shapes.read))
  t.ok(isWellFormed(requests.batchAppend.serializeBinary(), shapes.batchAppend))
  t.ok(isWellFormed(Buffer.alloc(0), shapes.empty))
})

t.test('isWellFormed rejects a length beyond the end of the message, at any depth', async (t) => {
  const decoders = [
    [requests.read.serializeBinary(), shapes.read, streams.ReadReq],
    [requests.all.serializeBinary(), shapes.read, streams.ReadReq],
    [requests.batchAppend.serializeBinary(), shapes.batchAppend, streams.BatchAppendReq],
  ] as const
  for (const [bytes, shape, decoder] of decoders) {
    for (let at = 0; at < bytes.length; at += 1) {
      const broken = Buffer.concat([bytes.subarray(0, at), absurdLength, bytes.subarray(at + 1)])
      if (!isWellFormed(broken, shape)) continue
      const startedAt = performance.now()
      try {
        decoder.deserializeBinary(broken)
      } catch {
        // The library may reject it, as long as that is quick.
      }
      if (performance.now() - startedAt > maxDecodeMs) t.fail(`a length at ${at} is believed`)
    }
  }
  t.notOk(isWellFormed(Buffer.concat([Buffer.of(0x0a), absurdLength]), shapes.read))
})

t.test('isWellFormed rejects a nested field that reaches beyond its parent', async (t) => {
  t.ok(isWellFormed(Buffer.from('0a040a020800', 'hex'), shapes.delete))
  t.notOk(isWellFormed(Buffer.from('0a020a020800', 'hex'), shapes.delete))
})

t.test('isWellFormed rejects truncated fields, field 0, groups and too long varints', async (t) => {
  for (const hex of [
    '0a',
    '0a02',
    '0a0201',
    '08',
    '09010203',
    '0d01',
    '00',
    '0000',
    '0b',
    '0c',
    `08${'ff'.repeat(10)}01`,
  ]) {
    t.notOk(isWellFormed(Buffer.from(hex, 'hex'), shapes.read), hex)
  }
})

t.test('isWellFormed rejects a message with too many fields', async (t) => {
  t.ok(isWellFormed(Buffer.from('1a00'.repeat(400_000), 'hex'), shapes.batchAppend))
  t.notOk(isWellFormed(Buffer.from('1a00'.repeat(400_001), 'hex'), shapes.batchAppend))
})
