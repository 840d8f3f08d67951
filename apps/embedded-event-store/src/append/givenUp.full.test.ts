// Ended calls release their memory and leave no references.
import { EventEmitter } from 'node:events'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type AppendResp, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServiceError } from '@grpc/grpc-js'
import t from 'tap'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { heapMegabytes } from '../testing/heap.ts'
import { unaryMessage } from '../testing/rawMessages.ts'
import { batchRequest, type Chunk, connectRaw, wordFor } from '../testing/rawStreams.ts'
import { startServerHarness } from '../testing/serverHarness.ts'
import { startWriter } from '../testing/writerHarness.ts'
import { createPendingBytes } from './pendingBytes.ts'
import { createAppend } from './unaryAppend.ts'

/** Sends chunks, cancels the call at the first reply, and returns that reply or the error. */
function firstReply(raw: StreamsClient, chunks: readonly Chunk[]): Promise<string> {
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

t.test('a completed or cancelled Append releases its memory', async (t) => {
  const { writer } = await startWriter(t)
  t.teardown(writer.stop)
  const held = createPendingBytes(10_000)
  const append = createAppend({ writer, maxAppendBytes: 1 << 20, held })
  const options = new streams.AppendReq.Options().setStreamIdentifier(streamIdentifier('s'))
  const firstMessage = new streams.AppendReq().setOptions(options.setStreamExists(new shared.Empty()))
  const event = new streams.AppendReq().setProposedMessage(unaryMessage({ metadata: Buffer.alloc(6_000, 'm') }))
  for (const end of ['end', 'cancelled', 'end']) {
    const call = Object.assign(new EventEmitter(), { cancelled: false, getDeadline: () => Number.POSITIVE_INFINITY })
    const response = new Promise<AppendResp | null | undefined>((resolve) =>
      append(call, (_, response) => resolve(response)),
    )
    call.emit('data', firstMessage)
    call.emit('data', event)
    t.notOk(held.take(5_000), 'the received bytes are reserved')
    call.emit(end)
    if (end === 'end') t.ok((await response)?.hasWrongExpectedVersion())
    t.ok(held.take(10_000), end)
    held.release(10_000)
  }
})

t.test('a thousand ended batch calls do not leak memory', async (t) => {
  const { node } = await startServerHarness(t)
  const raw = connectRaw(t, node.port)
  const rejected = { stream: 's', expected: 'stream_exists', events: [] } as const
  const openAndEnd = async (count: number) => {
    for (let done = 0; done < count; done += 50) {
      const words = await Promise.all(Array.from({ length: 50 }, () => firstReply(raw, [rejected])))
      if (words.some((word) => word !== 'WrongExpectedVersion')) t.fail(words.join())
    }
  }
  await openAndEnd(300)
  const before = heapMegabytes()
  await openAndEnd(1_000)
  const grown = heapMegabytes() - before
  t.ok(grown < 4, `${grown.toFixed(1)} MB`)
})
