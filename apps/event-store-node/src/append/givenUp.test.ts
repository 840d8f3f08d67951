// Calls that are over: what they held is free again, and nobody remembers them.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { heapMegabytes } from '../testing/heap.ts'
import { startNodeUnderTest } from '../testing/nodeUnderTest.ts'
import { sendAppend } from '../testing/rawCalls.ts'
import { unaryMessage } from '../testing/rawMessages.ts'
import { batchRequest, type Chunk, connectRaw, wordFor } from '../testing/rawStreams.ts'

/** Metadata does not count towards the maximum append size. */
const large = { metadata: Buffer.alloc(15 << 20, 'm') }
/** Together more than all calls may hold at a time, which is 256 MiB. */
const largeCalls = 20

/** Sends chunks, gives the call up at the first reply, and tells that reply or how the call failed. */
function begun(raw: StreamsClient, chunks: readonly Chunk[]): Promise<string> {
  return new Promise((resolve) => {
    const call = raw.batchAppend()
    call.on('data', (reply: BatchAppendResp) => {
      resolve(wordFor(reply))
      call.cancel()
    })
    call.on('error', (error: ServiceError) => resolve(`failed with ${error.code}`))
    for (const chunk of chunks) call.write(batchRequest(chunk))
  })
}

t.test('an Append that was answered holds nothing', async (t) => {
  const { node } = await startNodeUnderTest(t)
  const raw = connectRaw(t, node.port)
  const options = new streams.AppendReq.Options().setStreamIdentifier(streamIdentifier('s'))
  const refused = new streams.AppendReq().setOptions(options.setStreamExists(new shared.Empty()))
  const event = new streams.AppendReq().setProposedMessage(unaryMessage(large))
  for (let count = 0; count < largeCalls; count += 1) {
    const answered = await sendAppend(raw, [refused, event])
    t.ok('response' in answered && answered.response.hasWrongExpectedVersion())
  }
})

t.test('thousands of batch calls that came and went leave nothing behind', async (t) => {
  const { node } = await startNodeUnderTest(t)
  const raw = connectRaw(t, node.port)
  const refused = { stream: 's', expected: 'stream_exists', events: [] } as const
  const comeAndGo = async (count: number) => {
    for (let done = 0; done < count; done += 50) {
      const words = await Promise.all(Array.from({ length: 50 }, () => begun(raw, [refused])))
      if (words.some((word) => word !== 'WrongExpectedVersion')) t.fail(words.join())
    }
  }
  await comeAndGo(300)
  const before = heapMegabytes()
  await comeAndGo(1_000)
  const grown = heapMegabytes() - before
  t.ok(grown < 4, `${grown.toFixed(1)} MB`)
})
