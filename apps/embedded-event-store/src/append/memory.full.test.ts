// Memory limits of pending appends.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import t from 'tap'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { sendAppend } from '../testing/rawCalls.ts'
import { batchMessage, unaryMessage } from '../testing/rawMessages.ts'
import { batchAppend, batchRequest, connectRaw, wordFor } from '../testing/rawStreams.ts'
import { startServerHarness } from '../testing/serverHarness.ts'
import { createAssemblies } from './assemblies.ts'
import { type Assembly, addChunk, beginAssembly } from './assembly.ts'
import { createPendingBytes } from './pendingBytes.ts'
import { pendingBytesOf, proposedEventOf } from './proposedMessage.ts'

function assemblyOf(bytes: number): Assembly {
  const request = batchRequest({ stream: 's', events: [{ metadata: 'm'.repeat(bytes) }], final: false })
  const options = request.getOptions()
  if (options === undefined) throw new Error('a first chunk has options')
  const assembly = beginAssembly(options)
  addChunk(assembly, request)
  return assembly
}

t.test('unfinished appends are limited per call and in total, and release their memory', async (t) => {
  const held = createPendingBytes(12_000)
  const limits = { held, maxAssemblies: 3, maxHeldBytes: 9_000 }
  const one = createAssemblies(limits)
  const other = createAssemblies(limits)
  const begin = (assemblies: typeof one, id: string, bytes: number) => {
    const assembly = assemblyOf(bytes)
    assemblies.add(id, assembly)
    return assemblies.account(assembly, 0)
  }
  t.equal(begin(one, 'a', 4_000), true)
  t.equal(begin(one, 'b', 5_000), false, 'limit per call')
  one.remove('b')
  t.equal(begin(other, 'c', 4_000), true)
  t.equal(begin(other, 'd', 4_000), false, 'limit of all calls')
  other.clear()
  t.equal(begin(one, 'e', 1_000), true)
  one.remove('a')
  t.equal(begin(one, 'f', 4_000), true, 'after an append has finished')
  t.equal(begin(other, 'g', 4_000), true, 'after an append has failed')
  t.equal(begin(one, 'h', 1), true)
  t.equal(begin(one, 'i', 1), false, 'limit of their number')
})

t.test('a chunk with an invalid event adds no events', async (t) => {
  const assembly = assemblyOf(10)
  const before = { ...assembly, events: [...assembly.events] }
  t.throws(() => addChunk(assembly, batchRequest({ events: [{}, { id: 'not-a-uuid' }] })))
  t.same(assembly, before)
})

t.test('a single Append call has a memory limit', async (t) => {
  const { node } = await startServerHarness(t)
  const raw = connectRaw(t, node.port)
  const options = new streams.AppendReq.Options().setAny(new shared.Empty()).setStreamIdentifier(streamIdentifier('s'))
  const started = new streams.AppendReq().setOptions(options)
  // Metadata does not count towards the maximum append size, so that nothing else bounds it.
  const large = new streams.AppendReq().setProposedMessage(unaryMessage({ metadata: Buffer.alloc(15 << 20, 'm') }))
  const result = await sendAppend(raw, [started, large, large, large, large, large])
  t.same(result, { failed: { code: 'RESOURCE_EXHAUSTED', trailers: {} } })
})

t.test('an event that is too large for clients to read is rejected', async (t) => {
  const { node } = await startServerHarness(t)
  const replies = await batchAppend(connectRaw(t, node.port), [
    { stream: 's', events: [{ metadata: Buffer.alloc(16 << 20) }] },
  ])
  t.same(replies.map(wordFor), ['BadRequest'])
})

t.test('an event counts with all its bytes, and does not keep its message in memory', async (t) => {
  const message = streams.BatchAppendReq.ProposedMessage.deserializeBinary(
    batchMessage({ bytes: 100_000, metadata: 'm'.repeat(50_000), type: 'T'.repeat(100) }).serializeBinary(),
  )
  const event = proposedEventOf(message)
  t.ok(pendingBytesOf(event) >= 150_100)
  t.not(event.data.buffer, message.getData_asU8().buffer)
  t.not(event.metadata.buffer, message.getCustomMetadata_asU8().buffer)
})
