// Replies of a BatchAppend call to a client that does not read them.
import { Duplex } from 'node:stream'
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { openChannel } from './batchChannel.ts'

type Call = ServerDuplexStream<BatchAppendReq, BatchAppendResp>

/** In place of gRPC's call: `sent` are the messages for HTTP/2, each with the callback for when it has left. */
function startCall() {
  const sent: { message: unknown; hasLeft: () => void }[] = []
  const call = { sendMessage: (message: unknown, hasLeft: () => void) => void sent.push({ message, hasLeft }) }
  const stream = Object.assign(new Duplex({ objectMode: true, read: () => undefined }), { call }) as unknown as Call
  const writer = { onOutage: () => () => undefined } as unknown as Parameters<typeof openChannel>[1]['writer']
  const channel = openChannel(stream, { writer, stopping: new AbortController().signal })
  return { sent, stream, channel }
}

t.test('replies are sent together, and a client that does not read them is not read from', async (t) => {
  const { sent, stream, channel } = startCall()
  const replies = Array.from({ length: 1_100 }, () => new streams.BatchAppendResp())
  for (const reply of replies.slice(0, 999)) channel.reply(reply)
  t.equal(sent.length, 999, 'no reply waits for the one before it')
  t.equal(stream.isPaused(), false)
  for (const reply of replies.slice(999)) channel.reply(reply)
  t.equal(sent.length, 1_000)
  t.equal(stream.isPaused(), true)
  const left: unknown[] = []
  const leaving = setInterval(() => {
    for (const { message, hasLeft } of sent.splice(0, 10)) {
      left.push(message)
      hasLeft()
    }
  }, 1)
  t.teardown(() => clearInterval(leaving))
  await waitFor(() => left.length === replies.length && !stream.isPaused(), { what: 'the replies to leave' })
  t.ok(left.every((message, index) => message === replies[index]))
})
