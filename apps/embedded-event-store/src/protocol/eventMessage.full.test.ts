// Events encoded by hand equal those encoded by the generated code.
import streams from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { deletedRevision, type StoredEvent } from '../storage/storedEvent.ts'
import { eventMessage, resolvedLinkMessage } from './eventMessage.ts'

const base: StoredEvent = {
  position: 300n,
  stream: 'payment-ä€😀',
  revision: 0n,
  eventId: '8ba5b6a2-6f4d-4c06-9f5c-0d8f6a3f2b11',
  type: 'PaymentSucceeded',
  isJson: true,
  createdTicks: 17_000_000_000_000_000n,
  metadata: Buffer.alloc(0),
  data: Buffer.from([0, 255, 10, 128]),
}

for (const [name, event] of Object.entries<StoredEvent>({
  'a first event without metadata': base,
  'large numbers': { ...base, position: 9_007_199_254_740_993n, revision: deletedRevision, isJson: false },
  'long bytes': { ...base, data: Buffer.alloc(70_000, 7), metadata: Buffer.alloc(300, 1), type: 'x'.repeat(200) },
  'no bytes': { ...base, data: Buffer.alloc(0) },
})) {
  t.test(`the generated code reads ${name}`, async (t) => {
    const response = streams.ReadResp.deserializeBinary(eventMessage(event, 'string'))
    const read = response.getEvent()
    const recorded = read?.getEvent()
    t.equal(read?.getCommitPosition(), String(event.position))
    t.equal(recorded?.getId()?.getString(), event.eventId)
    t.equal(Buffer.from(recorded?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(), event.stream)
    t.equal(recorded?.getStreamRevision(), String(event.revision))
    t.equal(recorded?.getCommitPosition(), String(event.position))
    t.equal(recorded?.getPreparePosition(), String(event.position))
    t.same(recorded?.getMetadataMap().toObject(), [
      ['content-type', event.isJson ? 'application/json' : 'application/octet-stream'],
      ['created', String(event.createdTicks)],
      ['type', event.type],
    ])
    t.same(Buffer.from(recorded?.getData_asU8() ?? []), event.data)
    t.same(Buffer.from(recorded?.getCustomMetadata_asU8() ?? []), event.metadata)
    t.same(Buffer.from(response.serializeBinary()), eventMessage(event, 'string'), 'byte for byte')
  })
}

t.test('an event that is kept with its message keeps no more bytes', async (t) => {
  t.equal(eventMessage(base, 'string').buffer.byteLength, eventMessage(base, 'string').length)
})

t.test('ids are sent as two 64-bit halves on request', async (t) => {
  const response = streams.ReadResp.deserializeBinary(eventMessage(base, 'structured'))
  const halves = response.getEvent()?.getEvent()?.getId()?.getStructured()
  const hex = (bits: string | undefined) =>
    BigInt.asUintN(64, BigInt(bits ?? 0))
      .toString(16)
      .padStart(16, '0')
  const sent = hex(halves?.getMostSignificantBits()) + hex(halves?.getLeastSignificantBits())
  t.equal(sent, base.eventId.replaceAll('-', ''))
})

t.test('a link without a readable target is sent alone, at its own position', async (t) => {
  const link = { ...base, type: '$>', position: 400n }
  const unresolved = streams.ReadResp.deserializeBinary(resolvedLinkMessage(link, undefined, 'string')).getEvent()
  t.notOk(unresolved?.hasEvent())
  t.equal(unresolved?.getCommitPosition(), '400')
  const resolved = streams.ReadResp.deserializeBinary(resolvedLinkMessage(link, base, 'string')).getEvent()
  t.equal(resolved?.getEvent()?.getCommitPosition(), '300')
  t.equal(resolved?.getCommitPosition(), '400')
})
